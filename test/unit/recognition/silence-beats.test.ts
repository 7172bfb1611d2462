import { describe, expect, it } from "vitest";
import { silentLog } from "../../../src/base/log.ts";
import type { TranscribeResult } from "../../../src/inference/transcription-stream.ts";
import type { AudioSource } from "../../../src/recognition/audio-source.ts";
import { SessionRecognition } from "../../../src/recognition/session-recognition.ts";
import { StreamTails } from "../../../src/recognition/stream-tail.ts";
import { initialState } from "../../../src/session/state.ts";
import type { TransientFrame } from "../../../src/wire/live-frames.ts";
import { settled, VirtualRuntime } from "../../support/late/virtual-runtime.ts";

const RATE = 16_000;
const ID = "01a20000-0000-7000-8000-000000000001";

/** A recording session whose worker says what the test says. */
async function recording(isStreamed: boolean) {
  const frames: TransientFrame[] = [];
  let say: (message: TranscribeResult) => void = () => {};
  let hear: () => void = () => {};
  const source = {
    opening: async () => {
      return { checkpoint: undefined, sequence: 0, suspects: [], vocabulary: [], interim: true };
    },
    placed: async () => [],
    fragments: async () => [],
    bytes: async () => Buffer.alloc(0),
    noteDamage: async () => {},
  } as unknown as AudioSource;
  const feed = {
    follow: (_id: string, listener: (audio: never) => void) => {
      hear = () => listener({ kind: "finalize", sequence: -1, index: 0 } as never);
      return () => {};
    },
  };
  const recognition = new SessionRecognition({
    ...{ sessionId: ID, source, log: silentLog, runtime: new VirtualRuntime() },
    transcribers: {
      isCrowded: false,
      open: () => ({
        ...{ send: () => true, onDrain: () => {}, onEnd: () => {}, finish: () => {} },
        cancel: () => {},
        onMessage: (listener) => {
          say = listener;
        },
      }),
    },
    tails: new StreamTails(feed, source),
    notify: () => true,
    publish: (frame) => void frames.push(frame),
  });
  const state = initialState(ID);
  state.phase = "recording";
  state.jobStarted = true;
  if (!isStreamed) state.timeline.next = 1;
  recognition.start(state, 1);
  if (isStreamed) hear();
  await settled();
  const progress = (seconds: number) =>
    say({ $case: "progress", value: { processedTo: seconds * RATE, finalisedTo: 0 } });
  const beats = () =>
    frames.splice(0).flatMap((frame) => (frame.type === "Heartbeat" ? [frame] : []));
  return { recognition, say, progress, beats };
}

const NOBODY = { segments: [], merges: [], finalPass: false };

const utterance = (end: number): TranscribeResult => ({
  $case: "utterance",
  value: { start: 0, end: end * RATE, segments: [], speakers: NOBODY, checkpoint: undefined },
});

describe("heartbeats of a silence", () => {
  it("a stream tells behind each utterance how far it was read, some seconds long", async () => {
    const { recognition, say, progress, beats } = await recording(true);
    for (let second = 1; second < 4; second += 1) progress(second);
    expect(beats()).toEqual([]);
    for (const end of [4, 14]) {
      say(utterance(end));
      for (let second = 1; second < 10; second += 1) progress(end + second);
      const lags = beats().map(({ audio_received, lag_ms }) => audio_received - lag_ms / 1_000);
      expect(lags).toHaveLength(6);
    }
    await recognition.stop();
  });

  it("a session that nobody hears live tells it no more often than others do", async () => {
    const { recognition, say, progress, beats } = await recording(false);
    say(utterance(4));
    progress(5);
    expect(beats()).toEqual([]);
    await recognition.stop();
  });
});
