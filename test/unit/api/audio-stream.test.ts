import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { AudioStream } from "../../../src/api/audio-stream.ts";
import type { AudioStreamStore, StreamSettings } from "../../../src/api/audio-stream-store.ts";
import { createCutter } from "../../../src/api/stream-encoding.ts";
import type { StreamSealer } from "../../../src/api/stream-sealer.ts";
import { silentLog } from "../../../src/base/log.ts";

const SETTINGS: StreamSettings = {
  encoding: "pcm_s16le",
  sampleRate: 16_000,
  channels: 1,
  framing: "packet",
  interim: true,
};

describe("audio stream", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("chunks: one that grows old between two looks for audio ends, although nothing more comes", async () => {
    const sealed: number[] = [];
    const store: AudioStreamStore = {
      take: () => Promise.reject(new Error("not asked")),
      begin: async () => ({ sequence: 0, outbox: [] }),
      append: async () => {},
    };
    const stream = new AudioStream(
      { sessionId: "s", epoch: 1, status: "recording", settings: SETTINGS, offset: 0, seq: 0 },
      createCutter(SETTINGS),
      {
        ports: {
          store,
          sealer: {
            seal: async ({ sequence }: { sequence: number }) => {
              sealed.push(sequence);
            },
          } as unknown as StreamSealer,
          live: { publish: () => {} },
          backlog: { check: () => {} },
          notifier: { notify: async () => {} },
          log: silentLog,
        },
        events: { onStored: () => {}, onEnd: () => {} },
      },
    );
    // The clock begins at 0, so the first look comes after 40 ms: there the chunk begins.
    stream.push(new Uint8Array(640));
    await vi.advanceTimersByTimeAsync(10_020);
    // The last piece, 20 ms before the chunk is old: the next look comes after that.
    stream.push(new Uint8Array(640));
    await vi.advanceTimersByTimeAsync(100);
    expect(sealed).toEqual([0]);
  });
});
