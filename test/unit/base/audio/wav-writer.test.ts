import { describe, expect, it } from "vitest";
import { isAudioFormatError, parseWavHeader, wavHeader } from "../../../../src/base/audio/wav.ts";

describe("wav writer", () => {
  it("wav writer: is read back as what it says", () => {
    const header = wavHeader(16_000);
    expect(header.length).toBe(44);
    const read = parseWavHeader(header, header.length + 32_000);
    if (isAudioFormatError(read)) throw new Error(read.error);
    expect(read).toMatchObject({ encoding: "s16le", channels: 1, sampleRate: 16_000 });
    expect(read).toMatchObject({ frames: 16_000, dataOffset: 44 });
    expect(header.readUInt32LE(4)).toBe(36 + 32_000);
  });

  it("wav writer: beyond 4 GiB it is RF64 with the true sizes", () => {
    const samples = 3_000_000_000;
    const header = wavHeader(samples);
    expect(header.toString("latin1", 0, 4)).toBe("RF64");
    expect(header.readUInt32LE(4)).toBe(0xffffffff);
    expect(header.toString("latin1", 12, 16)).toBe("ds64");
    expect(Number(header.readBigUInt64LE(20))).toBe(header.length - 8 + 2 * samples);
    expect(Number(header.readBigUInt64LE(28))).toBe(2 * samples);
    expect(Number(header.readBigUInt64LE(36))).toBe(samples);
    const read = parseWavHeader(header, header.length + 2 * samples);
    expect(read).toMatchObject({ frames: samples, dataOffset: header.length });
  });
});
