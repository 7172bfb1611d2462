import { describe, expect, it } from "vitest";
import type { LiveAudio } from "../../../src/conversations/recording/chunk-assembler.ts";
import { BusAudio } from "../../../src/nats/live-audio.ts";
import type { MessageBus } from "../../../src/nats/message-bus.ts";

const FORMAT = { mediaType: "audio/pcm;rate=16000", sampleRate: 16_000 };
const PLACE = {
  ...{ sequence: 2, format: FORMAT, startFrame: 8, startByte: 16, frames: 2, interim: true },
};
const data = Uint8Array.of(1, 2, 0x0a, 4);
const FRAGMENT: LiveAudio = { ...PLACE, kind: "fragment", index: 3, data };

/** What is sent for this audio, and what whoever follows receives of it. */
function passed(audio: LiveAudio): { line: object; received: LiveAudio[] } {
  const [received, sent]: [LiveAudio[], Uint8Array[]] = [[], []];
  let listener: (data: Uint8Array) => void = () => {};
  const bus: Partial<MessageBus> = {
    publish: (_subject, data) => {
      sent.push(data);
      listener(data);
    },
    subscribe: (_subject, on) => {
      listener = on;
      return () => {};
    },
  };
  const live = new BusAudio(bus as MessageBus);
  live.follow("s", (each) => received.push(each));
  live.publish("s", audio);
  const [line = ""] = Buffer.concat(sent).toString("latin1").split("\n");
  return { line: JSON.parse(line), received };
}

describe("live audio between processes", () => {
  it("arrives as it was sent", () => {
    const finalize: LiveAudio = { kind: "finalize", sequence: 2, index: 3 };
    expect(passed(FRAGMENT).received).toEqual([FRAGMENT]);
    expect(passed(finalize).received).toEqual([finalize]);
  });

  it("has the names that a process of another release knows", () => {
    expect(passed(FRAGMENT).line).toEqual({ ...PLACE, kind: "piece", piece: 3 });
    const finalize = { kind: "finalize", sequence: 2, index: 3 } as const;
    expect(passed(finalize).line).toEqual({ kind: "finalize", sequence: 2, piece: 3 });
  });
});
