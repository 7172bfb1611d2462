import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadDecoders } from "../../../../src/base/codecs/sound-reader.ts";
import { readRecordings } from "../../../../src/cli/device/recording-file.ts";
import { encodeWave, type WaveAudio } from "../../../../src/cli/device/wave-file.ts";
import {
  decodedSound,
  SOUND_FILES,
  SOUND_NAMES,
  soundBytes,
} from "../../../support/sound-files.ts";

let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "recordings-"));
  await loadDecoders();
});
afterAll(() => rmSync(folder, { recursive: true }));

async function read(bytes: Uint8Array, name = "file"): Promise<WaveAudio | undefined> {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  const [audio] = await readRecordings([path]);
  return audio;
}

/** A WAV file whose format tag says something else than PCM. */
function tagged(tag: number, bits: number, data: Buffer): Buffer {
  const shape = { float: false, channels: 2, sampleRate: 8_000, bitsPerSample: bits };
  const bytes = encodeWave({ ...shape, data });
  bytes.writeUInt16LE(tag, 20);
  return bytes;
}

function samplesOf(audio: WaveAudio | undefined): number[] {
  const { data } = audio ?? { data: Buffer.alloc(0) };
  return Array.from({ length: data.length / 2 }, (_, at) => data.readInt16LE(2 * at));
}

describe("cli recordings: files", () => {
  for (const name of SOUND_NAMES) {
    it(`cli recordings: ${name} is decoded, whatever its name says`, async () => {
      const { sampleRate, channels } = SOUND_FILES[name];
      const audio = await read(soundBytes(name), "recording.wav");
      expect(audio).toMatchObject({ float: false, bitsPerSample: 16, sampleRate, channels });
      expect(samplesOf(audio)).toEqual([...decodedSound(soundBytes(name))]);
    });
  }

  it("cli recordings: 8 bits, A-law, µ-law and 64-bit floats become 16 bits", async () => {
    const doubles = Buffer.alloc(16);
    doubles.writeDoubleLE(0.5, 0);
    doubles.writeDoubleLE(-1, 8);
    const cases: [Buffer, number[]][] = [
      [tagged(1, 8, Buffer.from([128, 255])), [0, 32_512]],
      [tagged(6, 8, Buffer.from([0xd5, 0x2a])), [8, -32_256]],
      [tagged(7, 8, Buffer.from([0xff, 0x00])), [0, -32_124]],
      [tagged(3, 64, doubles), [16_384, -32_768]],
    ];
    for (const [bytes, samples] of cases) {
      const audio = await read(bytes);
      expect(audio).toMatchObject({ channels: 2, sampleRate: 8_000, bitsPerSample: 16 });
      expect(samplesOf(audio)).toEqual(samples);
    }
  });

  it("cli recordings: wider samples stay as they are", async () => {
    const shape = { float: false, channels: 1, sampleRate: 48_000, bitsPerSample: 24 };
    const audio = { ...shape, data: Buffer.from([1, 2, 3, 4, 5, 6]) };
    expect(await read(encodeWave(audio))).toEqual(audio);
  });

  it("cli recordings: what cannot be sent is refused in a sentence that says what can", async () => {
    const slow = { float: false, channels: 1, sampleRate: 4_000, bitsPerSample: 16 };
    const cases: [Uint8Array, RegExp][] = [
      [Buffer.from("\0\0\0\x20ftypM4A "), /MP4\/M4A \(AAC\) is not supported\./],
      [Buffer.from("not audio at all"), /It is not audio\./],
      [soundBytes("mono.opus").subarray(47), /later part of a recording/],
      [soundBytes("mono-16000.flac").subarray(0, 60), /damaged, or ends before its samples/],
      [encodeWave({ ...slow, data: Buffer.alloc(8) }), /sample rate of 4000 Hz/],
    ];
    for (const [bytes, reason] of cases) {
      const refusal = read(bytes);
      await expect(refusal).rejects.toThrow(reason);
      await expect(refusal).rejects.toThrow(
        /file cannot be sent: .* Files may be WAV .*FLAC .*MP3/,
      );
    }
    await expect(readRecordings([join(folder, "absent")])).rejects.toThrow(/cannot read .*absent/);
  });
});
