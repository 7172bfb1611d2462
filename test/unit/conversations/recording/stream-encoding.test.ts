import { describe, expect, it } from "vitest";
import { joinOpusPackets } from "../../../../src/base/audio/opus-packets.ts";
import { createCutter } from "../../../../src/conversations/recording/stream-encoding.ts";
import type { StreamSettings } from "../../../../src/conversations/recording/stream-records.ts";

const PCM: StreamSettings = {
  encoding: "pcm_s16le",
  sampleRate: 16_000,
  channels: 2,
  framing: "packet",
  interim: true,
};
const OPUS: StreamSettings = { ...PCM, encoding: "opus", channels: 1 };
/** 20 ms of silence (CELT, full band). */
const PACKET = Uint8Array.of(0xf8, 0xff, 0xfe);

describe("stream encoding: messages of many packets", () => {
  it("takes as many as 1 MiB of real sound may hold, and no more", () => {
    const cutter = createCutter({ ...OPUS, framing: "length_prefixed" });
    const packets = (count: number) => Buffer.alloc(3 * count, Buffer.of(0, 1, 0x18));
    expect(cutter.push(packets(65_536))).toHaveLength(65_536);
    const { buffered } = cutter;
    expect(() => cutter.push(packets(65_537))).toThrow("at most 65536 Opus packets");
    expect(cutter.buffered).toBe(buffered);
  });
});

describe("stream encoding: samples", () => {
  it("cuts whole frames and keeps the rest for the next message", () => {
    const cutter = createCutter(PCM);
    cutter.push(Uint8Array.of(1, 2, 3, 4, 5));
    expect(cutter.cut(100)).toEqual({
      data: Buffer.from([1, 2, 3, 4]),
      frames: 1,
      streamBytes: 4,
    });
    expect(cutter.cut(100)).toBeUndefined();
    cutter.push(Uint8Array.of(6, 7, 8));
    expect(cutter.cut(100)?.data).toEqual(Buffer.from([5, 6, 7, 8]));
    expect(cutter.buffered).toBe(0);
  });

  it("copies what it is given", () => {
    const cutter = createCutter(PCM);
    const message = Uint8Array.of(1, 2, 3, 4);
    cutter.push(message);
    message.fill(0);
    expect(cutter.cut(100)?.data).toEqual(Buffer.from([1, 2, 3, 4]));
  });

  it("lost bytes become silence of the same length, unless they are too many", () => {
    const cutter = createCutter({ ...PCM, encoding: "mulaw", channels: 1 });
    cutter.lose(3);
    expect(cutter.cut(100)).toEqual({
      data: Buffer.from([0xff, 0xff, 0xff]),
      frames: 3,
      streamBytes: 3,
    });
    expect(() => cutter.lose(121 * 16_000)).toThrow(/120 s of audio are missing/);
  });

  it("lost bytes that end within a frame are taken as all of it", () => {
    const cutter = createCutter(PCM);
    expect(cutter.lose(5)).toBe(8);
    cutter.push(Uint8Array.of(1, 2, 3, 4));
    expect(cutter.cut(100)?.data).toEqual(Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4]));
  });

  it("refuses rates that nobody can read", () => {
    expect(() => createCutter({ ...PCM, sampleRate: 12_345 })).toThrow(/sample_rate/);
  });
});

describe("stream encoding: opus", () => {
  it("one packet a message: stored after its length, counted at 16 kHz", () => {
    const cutter = createCutter(OPUS);
    cutter.push(PACKET);
    cutter.push(PACKET);
    expect(cutter.cut(1_000)).toEqual({
      data: Buffer.from(joinOpusPackets([PACKET, PACKET])),
      frames: 640,
      streamBytes: 6,
    });
  });

  it("packets after their lengths: stored as they came", () => {
    const cutter = createCutter({ ...OPUS, framing: "length_prefixed" });
    const message = joinOpusPackets([PACKET, PACKET, PACKET]);
    cutter.push(message);
    expect(cutter.cut(1_000)).toEqual({
      data: Buffer.from(message),
      frames: 960,
      streamBytes: message.byteLength,
    });
  });

  it("half a packet is refused and leaves nothing behind", () => {
    const cutter = createCutter({ ...OPUS, framing: "length_prefixed" });
    expect(() => cutter.push(joinOpusPackets([PACKET]).subarray(0, 4))).toThrow(
      /ends in the middle/,
    );
    expect(cutter.buffered).toBe(0);
    expect(cutter.cut(1_000)).toBeUndefined();
  });

  it("what is no packet is told, and stored so that the bytes count as the device counts", () => {
    const cutter = createCutter({ ...OPUS, framing: "length_prefixed" });
    const message = joinOpusPackets([PACKET, Uint8Array.of(0xff, 0x3f), PACKET]);
    expect(cutter.push(message)).toEqual([true, false, true]);
    expect(cutter.cut(1_000)).toEqual({
      data: Buffer.from(message),
      frames: 960,
      streamBytes: message.byteLength,
    });
  });

  it("lost bytes count in the stream and take no time", () => {
    const cutter = createCutter(OPUS);
    cutter.lose(50);
    cutter.push(PACKET);
    expect(cutter.cut(1_000)).toMatchObject({ frames: 320, streamBytes: 53 });
  });

  it("cuts within a message whose few bytes hold hours", () => {
    const cutter = createCutter({ ...OPUS, framing: "length_prefixed" });
    // Packets of one byte that say 120 ms each.
    const packets = Array.from({ length: 10_000 }, () => Uint8Array.of(0x59));
    cutter.push(joinOpusPackets(packets));
    const cuts = [];
    for (let cut = cutter.cut(64_000); cut !== undefined; cut = cutter.cut(64_000)) cuts.push(cut);
    expect(Math.max(...cuts.map(({ frames }) => frames))).toBeLessThan(2.2 * 16_000);
    expect(cuts.reduce((sum, { frames }) => sum + frames, 0)).toBe(10_000 * 0.12 * 16_000);
    expect(cuts.reduce((sum, { streamBytes }) => sum + streamBytes, 0)).toBe(30_000);
    expect(cutter.buffered).toBe(0);
  });
});
