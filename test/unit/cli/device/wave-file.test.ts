import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cutIntoChunks } from "../../../../src/cli/device/audio-chunks.ts";
import {
  durationSeconds,
  encodeWave,
  parseWave,
  readWave,
  toPcm16,
  type WaveAudio,
} from "../../../../src/cli/device/wave-file.ts";

function pcm16(samples: readonly number[], sampleRate = 16_000, channels = 1): WaveAudio {
  const data = Buffer.alloc(samples.length * 2);
  for (const [i, sample] of samples.entries()) data.writeInt16LE(sample, i * 2);
  return { float: false, bitsPerSample: 16, channels, sampleRate, data };
}

describe("cli wave file: reading", () => {
  it("reads back what it writes", () => {
    const audio = pcm16([1, -2, 32_767, -32_768], 8_000, 2);
    expect(parseWave(encodeWave(audio))).toEqual(audio);
  });

  it("skips other chunks, odd ones with their padding", () => {
    const bytes = encodeWave(pcm16([7, 8]));
    const extra = Buffer.from("LIST\u0003\u0000\u0000\u0000abc\u0000", "latin1");
    const padded = Buffer.concat([bytes.subarray(0, 36), extra, bytes.subarray(36)]);
    expect(parseWave(padded)?.data.length).toBe(4);
  });

  it("takes what is there when the header promises more, in whole frames", () => {
    const bytes = encodeWave(pcm16([1, 2, 3]));
    bytes.writeUInt32LE(0xffff_ffff, 40);
    expect(parseWave(bytes.subarray(0, bytes.length - 1))?.data.length).toBe(4);
  });

  it("refuses what is not uncompressed audio, in one sentence", () => {
    const folder = mkdtempSync(join(tmpdir(), "wave-"));
    try {
      const file = join(folder, "text.wav");
      writeFileSync(file, "not audio at all");
      expect(() => readWave(file)).toThrow(/is not a WAV file/);
      expect(() => readWave(join(folder, "absent.wav"))).toThrow(/cannot read .*absent\.wav/);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("never throws on arbitrary bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const head = Buffer.from("RIFF\u0000\u0000\u0000\u0000WAVE", "latin1");
        parseWave(Buffer.concat([head, bytes]));
      }),
    );
  });
});

describe("cli wave file: conversion to 16 bit", () => {
  it("keeps the upper bits of wider samples", () => {
    const data = Buffer.alloc(6);
    data.writeIntLE(0x7f_ff_ff, 0, 3);
    data.writeIntLE(-0x80_00_00, 3, 3);
    const wide = { float: false, bitsPerSample: 24, channels: 1, sampleRate: 16_000, data };
    expect(toPcm16(wide)).toEqual(pcm16([32_767, -32_768]));
  });

  it("clips floats and takes what is no number as silence", () => {
    const data = Buffer.alloc(16);
    for (const [i, value] of [0.5, -2, 2, Number.NaN].entries()) data.writeFloatLE(value, i * 4);
    const float = { float: true, bitsPerSample: 32, channels: 1, sampleRate: 16_000, data };
    expect(toPcm16(float)).toEqual(pcm16([16_384, -32_767, 32_767, 0]));
  });
});

describe("cli audio chunks: cutting", () => {
  const audio = pcm16(Array.from({ length: 40_000 }, (_, i) => i % 1_000));

  it("cuts equal lengths, the rest at the end, and loses nothing", () => {
    const chunks = [...cutIntoChunks([audio], 1, "pcm")];
    expect(chunks.map(({ sequence, seconds }) => [sequence, seconds])).toEqual([
      [0, 1],
      [1, 1],
      [2, 0.5],
    ]);
    expect(Buffer.concat(chunks.map(({ bytes }) => bytes))).toEqual(audio.data);
    expect(chunks.at(-1)?.recordedAt).toBeCloseTo(2.5, 9);
  });

  it("declares raw audio, and gives each WAV chunk a header of its own", () => {
    const [raw] = cutIntoChunks([audio], 1, "pcm");
    expect(raw?.mediaType).toBe("audio/pcm;rate=16000;channels=1;encoding=s16le");
    const [wave] = cutIntoChunks([audio], 1, "wav");
    expect(wave?.mediaType).toBe("audio/wav");
    const read = parseWave(Buffer.from(wave?.bytes ?? []));
    expect(read && durationSeconds(read)).toBe(1);
  });

  it("goes on counting over several recordings of different formats", () => {
    const other = pcm16(
      Array.from({ length: 8_000 }, () => 1),
      8_000,
    );
    const chunks = [...cutIntoChunks([audio, other], 2, "wav")];
    expect(chunks.map(({ sequence }) => sequence)).toEqual([0, 1, 2]);
    expect(chunks.map(({ recordedAt }) => recordedAt)).toEqual([2, 2.5, 3.5]);
  });
});
