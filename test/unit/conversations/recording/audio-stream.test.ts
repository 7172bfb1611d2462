import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { silentLog } from "../../../../src/base/log.ts";
import { systemRuntime } from "../../../../src/base/runtime.ts";
import type { ChunkAssembler } from "../../../../src/conversations/recording/chunk-assembler.ts";
import { AudioStream } from "../../../../src/conversations/recording/stream.ts";
import { createCutter } from "../../../../src/conversations/recording/stream-encoding.ts";
import type {
  AudioStreamStore,
  StreamSettings,
} from "../../../../src/conversations/recording/stream-records.ts";
import { NO_LOGS } from "../../../support/fragment-logs.ts";

const SETTINGS: StreamSettings = {
  encoding: "pcm_s16le",
  sampleRate: 16_000,
  channels: 1,
  framing: "packet",
  interim: true,
};

const OPUS: StreamSettings = { ...SETTINGS, encoding: "opus" };

interface Told {
  assembled: number[];
  /** When fragments were stored. */
  stored: number[];
  finalized: number[];
  /** Offsets acknowledged. */
  acks: number[];
  /** How many broken packets there were. */
  broken: number[];
  bytes: Uint8Array[];
  /** Codes of the errors with which it ended. */
  ends: (string | undefined)[];
}

function create(
  settings = SETTINGS,
  offset = 0,
  assembling: Promise<void> = Promise.resolve(),
  mostSeconds?: number,
): { stream: AudioStream; told: Told } {
  const told: Told = {
    ...{ assembled: [], stored: [], finalized: [], acks: [], broken: [], bytes: [], ends: [] },
  };
  const store: AudioStreamStore = {
    take: () => Promise.reject(new Error("not asked")),
    begin: async () => ({ sequence: 0, outbox: [] }),
    append: async () => {},
  };
  const stream = new AudioStream(
    {
      ...{ sessionId: "s", epoch: 1, status: "recording", settings, offset, seq: 0 },
      ...{ nextSequence: 0, ...(mostSeconds !== undefined && { mostSeconds }) },
    },
    createCutter(settings),
    {
      ports: {
        store,
        logs: NO_LOGS,
        assembler: {
          assemble: async ({ sequence }: { sequence: number }) => {
            told.assembled.push(sequence);
            await assembling;
          },
        } as unknown as ChunkAssembler,
        live: {
          publish: (_session, audio) => {
            if (audio.kind === "fragment") told.bytes.push(audio.data);
            (audio.kind === "fragment" ? told.stored : told.finalized).push(performance.now());
          },
        },
        backlog: { check: () => {} },
        notifier: { notify: () => {} },
        runtime: systemRuntime,
        log: silentLog,
      },
      events: {
        onStored: (stored) => told.acks.push(stored),
        onBroken: (packets) => told.broken.push(packets),
        onEnd: (error) => told.ends.push(error?.code),
      },
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

  it("chunks: one that grows old between two polls for audio ends, although nothing more comes", async () => {
    const { stream, told } = create();
    // The clock begins at 0, so the first look comes after 40 ms: there the chunk begins.
    stream.push(new Uint8Array(640));
    await vi.advanceTimersByTimeAsync(10_020);
    // The last fragment, 20 ms before the chunk is old: the next poll comes after that.
    stream.push(new Uint8Array(640));
    await vi.advanceTimersByTimeAsync(100);
    expect(told.assembled).toEqual([0]);
  });

  it("fragments: what comes 40 ms and more after the last is stored at once, what comes sooner together", async () => {
    const { stream, told } = create();
    await vi.advanceTimersByTimeAsync(1_000);
    for (const gap of [50, 41, 10, 10, 80]) {
      stream.push(new Uint8Array(640));
      await vi.advanceTimersByTimeAsync(gap);
    }
    expect(told.stored).toEqual([1_000, 1_050, 1_091, 1_131]);
  });

  it("fragments: the end that a device wants waits for no more to come", async () => {
    const { stream, told } = create();
    await vi.advanceTimersByTimeAsync(1_000);
    stream.push(new Uint8Array(640));
    await vi.advanceTimersByTimeAsync(60);
    stream.push(new Uint8Array(640));
    stream.finalize();
    await vi.advanceTimersByTimeAsync(0);
    expect(told).toMatchObject({ stored: [1_000, 1_060], finalized: [1_060] });
  });

  it("chunks: audio is acknowledged on while none can be assembled", async () => {
    const { stream, told } = create(SETTINGS, 0, new Promise(() => {}));
    for (let second = 0; second < 60; second += 1) {
      stream.push(new Uint8Array(32_000));
      await vi.advanceTimersByTimeAsync(1_000);
    }
    expect(told.acks.at(-1)).toBe(60 * 32_000);
    expect(told.assembled).toEqual([0]);
    expect(stream.buffered).toBe(0);
  });

  it("time: more sound than can have been recorded ends the stream, however few its bytes are", async () => {
    // A packet of one byte that says that it lasts 60 ms, after its length: ten minutes in 30 kB.
    const packets = Buffer.concat(Array.from({ length: 10_000 }, () => Buffer.of(0, 1, 0x18)));
    const framed: StreamSettings = { ...OPUS, framing: "length_prefixed" };
    const within = create(framed, 1, undefined, 600);
    within.stream.push(packets);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(within.told.ends).toEqual([]);
    expect(within.told.acks.at(-1)).toBe(1 + packets.byteLength);
    // As much again is refused before that time has passed.
    within.stream.push(packets);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(within.told.ends).toEqual(["overloaded"]);
  });

  it("time: sound that comes as it is recorded has no end", async () => {
    const { stream, told } = create(SETTINGS, 0, undefined, 2);
    for (let second = 0; second < 30; second += 1) {
      stream.push(new Uint8Array(32_000));
      await vi.advanceTimersByTimeAsync(1_000);
    }
    expect(told.ends).toEqual([]);
    expect(told.acks.at(-1)).toBe(30 * 32_000);
  });

  const latin = (text: string) => Buffer.from(text, "latin1");
  /** Begins as an MP3 may; no second header follows. */
  const likeMp3 = Buffer.concat([Buffer.from("fffb9064", "hex"), Buffer.alloc(1_000, 3)]);

  it("head: real audio waits for nothing; what may be a file only until that is known", () => {
    const { stream } = create();
    stream.push(Uint8Array.of(1));
    expect(stream.buffered).toBe(1);
    const waiting = create();
    for (const byte of likeMp3.subarray(0, 420)) waiting.stream.push(Uint8Array.of(byte));
    expect(waiting.told.acks).toEqual([]);
    expect(waiting.stream.buffered).toBe(420);
  });

  it.each([
    ["one byte", 1],
    ["seven bytes", 7],
    ["all", 2_000],
  ])(
    "head: what only begins like a file is stored whole, in messages of %s",
    async (_name, size) => {
      const { stream, told } = create();
      for (let at = 0; at < likeMp3.length; at += size)
        stream.push(likeMp3.subarray(at, at + size));
      const closed = stream.close();
      await vi.advanceTimersByTimeAsync(1_000);
      await closed;
      expect(Buffer.concat(told.bytes).equals(likeMp3)).toBe(true);
      expect(told.acks.at(-1)).toBe(likeMp3.length);
    },
  );

  it.each(["Og", "RIF", "\x1a\x45\xdf", "ID3\x04\0\0\0\0"])(
    "head: a stream that ends within a mark (%j) is stored and acknowledged",
    async (text) => {
      const { stream, told } = create({ ...SETTINGS, encoding: "mulaw" });
      for (const byte of latin(text)) stream.push(Uint8Array.of(byte));
      expect(told.acks).toEqual([]);
      const closed = stream.close();
      await vi.advanceTimersByTimeAsync(1_000);
      await closed;
      expect(Buffer.concat(told.bytes)).toEqual(latin(text));
      expect(told.acks.at(-1)).toBe(text.length);
    },
  );

  it("head: an utterance that ends within a mark ends after its bytes", async () => {
    const { stream, told } = create({ ...SETTINGS, encoding: "mulaw" });
    stream.push(latin("Og"));
    stream.finalize();
    await vi.advanceTimersByTimeAsync(100);
    expect(told).toMatchObject({ acks: [2], finalized: [expect.any(Number)] });
    stream.push(latin("gS"));
    await vi.advanceTimersByTimeAsync(100);
    expect(told.acks).toEqual([2, 4]);
  });

  it("head: a file is refused at its mark, and nothing of it is stored", async () => {
    const { stream, told } = create();
    for (const byte of latin("Ogg")) stream.push(Uint8Array.of(byte));
    const refused = create();
    expect(() => {
      for (const byte of latin("OggS")) refused.stream.push(Uint8Array.of(byte));
    }).toThrow(/looks like an Ogg file, not like bare PCM samples/);
    const closed = Promise.all([stream.close(), refused.stream.close()]);
    await vi.advanceTimersByTimeAsync(1_000);
    await closed;
    expect(refused.told.bytes).toEqual([]);
    expect(refused.stream.isReadable).toBe(false);
    expect(Buffer.concat(told.bytes)).toEqual(latin("Og"));
  });

  it("head: after a resume every byte is audio", () => {
    for (const settings of [SETTINGS, OPUS]) {
      expect(() => create(settings, 640).stream.push(latin("OggS\0\x02 and so on"))).not.toThrow();
    }
  });

  it("packets: broken ones are told and stored, and too many of them end it", async () => {
    const { stream, told } = create(OPUS);
    const good = Uint8Array.of(0xf8, 0xff, 0xfe);
    const bad = Uint8Array.of(0x0b, 0xff, 1);
    for (let n = 0; n < 20; n += 1) {
      for (const packet of [bad, good, good, good]) stream.push(packet);
    }
    expect(told.broken).toEqual(Array.from({ length: 20 }, (_, n) => n + 1));
    const push = () => stream.push(bad);
    for (let n = 0; n < 9; n += 1) push();
    expect(push).toThrow(/Of 90 messages or packets 30 are no Opus packets/);
    const closed = stream.close();
    await vi.advanceTimersByTimeAsync(1_000);
    await closed;
    expect(told.acks.at(-1)).toBe(270);
    expect(stream.isReadable).toBe(true);
  });
});
