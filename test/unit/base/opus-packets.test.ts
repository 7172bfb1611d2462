import { describe, expect, it } from "vitest";
import {
  isOpusMediaType,
  joinOpusPackets,
  OPUS_MEDIA_TYPE,
  opusPacketSamples,
  splitOpusPackets,
} from "../../../src/base/opus-packets.ts";

function packet(configuration: number, code: number, count = 0): Uint8Array {
  return Uint8Array.of((configuration << 3) | code, count, 0);
}

describe("opus packets", () => {
  it("opus packets: a packet's duration is that of its frames", () => {
    const frames = [0, 1, 2, 3, 12, 13, 16, 17, 18, 19, 31].map((configuration) =>
      opusPacketSamples(packet(configuration, 0), 16_000),
    );
    expect(frames).toEqual([160, 320, 640, 960, 160, 320, 40, 80, 160, 320, 320]);
    expect(opusPacketSamples(packet(31, 1), 48_000)).toBe(1_920);
    expect(opusPacketSamples(packet(31, 2), 48_000)).toBe(1_920);
    expect(opusPacketSamples(packet(1, 3, 0xc0 | 3), 16_000)).toBe(960);
    expect(opusPacketSamples(Uint8Array.of(8), 16_000)).toBe(320);
  });

  it("opus packets: what cannot be a packet lasts no time", () => {
    expect(opusPacketSamples(new Uint8Array(0), 16_000)).toBe(0);
    expect(opusPacketSamples(packet(1, 3, 0), 16_000)).toBe(0);
    expect(opusPacketSamples(Uint8Array.of(11), 16_000)).toBe(0);
    expect(opusPacketSamples(packet(3, 3, 3), 16_000)).toBe(0);
    expect(opusPacketSamples(packet(3, 3, 2), 16_000)).toBe(1_920);
  });

  it("opus packets: joined and split they are the same, without what is cut off", () => {
    const packets = [Uint8Array.of(1, 2, 3), new Uint8Array(0), new Uint8Array(700).fill(9)];
    const joined = joinOpusPackets(packets);
    expect(splitOpusPackets(joined)).toEqual(packets);
    expect(splitOpusPackets(joined.subarray(0, joined.length - 1))).toEqual(packets.slice(0, 2));
    expect(splitOpusPackets(joined.subarray(0, 8))).toEqual(packets.slice(0, 2));
    expect(splitOpusPackets(new Uint8Array(0))).toEqual([]);
    expect(() => joinOpusPackets([new Uint8Array(65_536)])).toThrow(RangeError);
  });

  it("opus packets: the media type tells their framing", () => {
    expect(isOpusMediaType(OPUS_MEDIA_TYPE)).toBe(true);
    expect(isOpusMediaType("Audio/Opus; Framing=length-prefixed")).toBe(true);
    expect(isOpusMediaType("audio/opus")).toBe(false);
    expect(isOpusMediaType("audio/ogg;framing=length-prefixed")).toBe(false);
  });
});
