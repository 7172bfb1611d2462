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

interface Told {
  sealed: number[];
  /** When pieces were stored. */
  stored: number[];
  finalized: number[];
}

function create(): { stream: AudioStream; told: Told } {
  const told: Told = { sealed: [], stored: [], finalized: [] };
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
            told.sealed.push(sequence);
          },
        } as unknown as StreamSealer,
        live: {
          publish: (_session, { kind }) => {
            (kind === "piece" ? told.stored : told.finalized).push(performance.now());
          },
        },
        backlog: { check: () => {} },
        notifier: { notify: async () => {} },
        log: silentLog,
      },
      events: { onStored: () => {}, onEnd: () => {} },
    },
  );
  return { stream, told };
}

describe("audio stream", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("chunks: one that grows old between two looks for audio ends, although nothing more comes", async () => {
    const { stream, told } = create();
    // The clock begins at 0, so the first look comes after 40 ms: there the chunk begins.
    stream.push(new Uint8Array(640));
    await vi.advanceTimersByTimeAsync(10_020);
    // The last piece, 20 ms before the chunk is old: the next look comes after that.
    stream.push(new Uint8Array(640));
    await vi.advanceTimersByTimeAsync(100);
    expect(told.sealed).toEqual([0]);
  });

  it("pieces: what comes 40 ms and more after the last is stored at once, what comes sooner together", async () => {
    const { stream, told } = create();
    await vi.advanceTimersByTimeAsync(1_000);
    for (const gap of [50, 41, 10, 10, 80]) {
      stream.push(new Uint8Array(640));
      await vi.advanceTimersByTimeAsync(gap);
    }
    expect(told.stored).toEqual([1_000, 1_050, 1_091, 1_131]);
  });

  it("pieces: the end that a device wants waits for no more to come", async () => {
    const { stream, told } = create();
    await vi.advanceTimersByTimeAsync(1_000);
    stream.push(new Uint8Array(640));
    await vi.advanceTimersByTimeAsync(60);
    stream.push(new Uint8Array(640));
    stream.finalize();
    await vi.advanceTimersByTimeAsync(0);
    expect(told).toMatchObject({ stored: [1_000, 1_060], finalized: [1_060] });
  });
});
