import { describe, expect, it } from "vitest";
import {
  type AwaitedChunks,
  presentWaiting,
} from "../../../../src/conversations/sessions/awaited-audio.ts";

const NOW = Date.UTC(2026, 0, 31, 9, 30);
const PATIENCE = { silence: 60_000, chunk: 300_000 };

function waiting(chunks: Partial<AwaitedChunks> = {}) {
  const signs = { stoppedAgo: 100_000, heardAgo: 12_000, chunkAgo: undefined };
  return presentWaiting({ sequences: [5], now: NOW, ...signs, ...chunks }, PATIENCE);
}

function secondsLeft(chunks: Partial<AwaitedChunks>): number {
  return (Date.parse(waiting(chunks).given_up_at) - NOW) / 1_000;
}

describe("awaited audio", () => {
  it("awaited audio: one sentence says for what, until when and why", () => {
    expect(waiting()).toEqual({
      chunk_sequences: [5],
      device_heard_at: "2026-01-31T09:29:48.000Z",
      given_up_at: "2026-01-31T09:30:48.000Z",
      message:
        "Waiting for chunk 5, which has not come. The device was last heard 12 s ago; once nothing was heard of it for 60 s, or no chunk came for 300 s, the session goes on without it.",
    });
    const named = (sequences: number[]) =>
      /for (.*) not come/.exec(waiting({ sequences }).message)?.[1];
    expect(named([3, 5, 6, 7])).toBe("chunks 3 and 5 to 7, which have");
    expect(named([1, 4, 5, 9])).toBe("chunks 1, 4 to 5 and 9, which have");
    expect(named([1, 3, 5, 7, 9])).toBe("5 chunks between 1 and 9, which have");
  });

  it("awaited audio: the wait ends with the silence of the device, or without a chunk for long", () => {
    expect(secondsLeft({ heardAgo: 0 })).toBe(60);
    expect(secondsLeft({ heardAgo: 0, stoppedAgo: 290_000 })).toBe(10);
    expect(secondsLeft({ heardAgo: 0, stoppedAgo: 290_000, chunkAgo: 20_000 })).toBe(60);
    expect(secondsLeft({ heardAgo: 900_000 })).toBe(0);
    // Nothing is given up in the first moments.
    expect(secondsLeft({ heardAgo: 900_000, stoppedAgo: 4_000 })).toBe(6);
  });
});
