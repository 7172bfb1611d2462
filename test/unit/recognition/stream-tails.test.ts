import { describe, expect, it } from "vitest";
import type { LiveAudio } from "../../../src/conversations/recording/chunk-assembler.ts";
import { StreamTails } from "../../../src/recognition/stream-tail.ts";

function fragment(index: number): LiveAudio {
  return {
    kind: "fragment",
    sequence: 0,
    index,
    format: { mediaType: "audio/pcm;rate=16000;channels=1;encoding=s16le", sampleRate: 16_000 },
    startFrame: index * 10,
    startByte: index * 20,
    frames: 10,
    data: Buffer.alloc(20),
    interim: true,
  };
}

describe("live tails", () => {
  it("tell of the fullest, never beyond the limit, and forget a closed one", () => {
    const listeners: ((audio: LiveAudio) => void)[] = [];
    const tails = new StreamTails(
      {
        follow: (_id, listener) => {
          listeners.push(listener);
          return () => {};
        },
      },
      { fragments: async () => [] },
    );
    const length = () => tails.queues[0]?.length ?? -1;
    const limit = tails.queues[0]?.limit ?? 0;
    expect(length()).toBe(0);
    const [first, second] = [tails.open("one"), tails.open("two")];
    for (const tail of [first, second]) tail.start(() => {});
    listeners[0]?.(fragment(0));
    for (let index = 0; index < 3; index += 1) listeners[1]?.(fragment(index));
    expect(length()).toBe(3);
    for (let index = 3; index < 1_000; index += 1) listeners[1]?.(fragment(index));
    expect(length()).toBeGreaterThan(3);
    expect(length()).toBeLessThanOrEqual(limit);
    tails.close(second);
    expect(length()).toBe(1);
    tails.close(first);
    expect(length()).toBe(0);
  });
});
