import { readFileSync } from "node:fs";
import { toChannels } from "../../src/base/audio/pcm-samples.ts";
import { openSoundFile, type SoundFile } from "../../src/base/codecs/sound-file.ts";
import { SoundReader } from "../../src/base/codecs/sound-reader.ts";

/** 1.4 s of flite's voice slt, "She had your dark suit.", as several encoders wrote it. */
export const SOUND_FILES = {
  "mono-44100.mp3": { mediaType: "audio/mpeg", sampleRate: 44_100, channels: 1 },
  // The right channel is silent.
  "left-16000.mp3": { mediaType: "audio/mpeg", sampleRate: 16_000, channels: 2 },
  "mono-16000.flac": { mediaType: "audio/flac", sampleRate: 16_000, channels: 1 },
  "mono-44100.ogg": { mediaType: "audio/ogg;codecs=vorbis", sampleRate: 44_100, channels: 1 },
  "mono.opus": { mediaType: "audio/ogg;codecs=opus", sampleRate: 16_000, channels: 1 },
  "left.webm": { mediaType: "audio/webm;codecs=opus", sampleRate: 16_000, channels: 2 },
} as const;

export type SoundName = keyof typeof SOUND_FILES;

export const SOUND_NAMES = Object.keys(SOUND_FILES) as SoundName[];

/** The same sentence in files that FFmpeg reads for us. */
type OtherName = "mono.m4a" | "front.mp4" | "mono.mka";

/** Samples by a formula, 600 of each channel, by flac. */
type MadeName = "ramp-24bit-48000.flac" | "ramp-8bit-8000.flac";

export function soundBytes(name: SoundName | OtherName | MadeName): Buffer {
  return readFileSync(new URL(`../fixtures/sounds/${name}`, import.meta.url));
}

export function opened(bytes: Uint8Array, isPart = false): SoundFile {
  const file = openSoundFile(bytes, isPart);
  if ("error" in file) throw new Error(file.error);
  return file;
}

/** All samples of a file, interleaved. */
export function decodedSound(bytes: Uint8Array, isPart = false): Int16Array {
  const file = opened(bytes, isPart);
  const reader = new SoundReader(file, bytes);
  const parts: number[] = [];
  for (let part = reader.read(1_600); part.length > 0; part = reader.read(1_600)) {
    parts.push(...part);
  }
  reader.close();
  return Int16Array.from(parts);
}

/** Loudness of each 20 ms, mixed to one channel. */
export function envelope(samples: Int16Array, rate: number, channels = 1): number[] {
  const mono = toChannels(samples, channels, 1);
  const width = rate / 50;
  return Array.from({ length: Math.floor(mono.length / width) }, (_, at) => {
    const part = mono.subarray(at * width, (at + 1) * width);
    return Math.sqrt(part.reduce((sum, value) => sum + value * value, 0) / part.length);
  });
}

/** How alike two envelopes run, from -1 to 1. */
export function likeness(one: readonly number[], other: readonly number[]): number {
  const count = Math.min(one.length, other.length);
  const mean = (values: readonly number[]) =>
    values.slice(0, count).reduce((sum, value) => sum + value, 0) / count;
  const [a, b] = [mean(one), mean(other)];
  let [product, squareA, squareB] = [0, 0, 0];
  for (let at = 0; at < count; at += 1) {
    const [x, y] = [(one[at] ?? 0) - a, (other[at] ?? 0) - b];
    product += x * y;
    squareA += x * x;
    squareB += y * y;
  }
  return product / Math.sqrt(squareA * squareB);
}
