import { createHash } from "node:crypto";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type DecodedShape, decodeFile } from "../../src/base/decoder/decode-file.ts";
import { type DecoderProgram, findDecoder } from "../../src/base/decoder/decoder-program.ts";
import { decodedSound, envelope, likeness, soundBytes } from "./sound-files.ts";

/** As on a machine without FFmpeg. */
export const BUNDLED = findDecoder("auto", "/nowhere") as DecoderProgram;
export const FIXTURES = new URL("../fixtures/sounds/", import.meta.url);
export const WAV_HEADER_BYTES = 44;

const RATE = 16_000;
const MEMORY_BYTES = 512 * 1024 * 1024;
const NEVER = new AbortController().signal;

/** Decodes the file at `input` with what every installation has; the WAV file stays in `folder`. */
export async function decodeBundled(
  folder: string,
  input: string,
  {
    outputBytes = 10_000_000,
    longestMs = 60_000,
  }: { outputBytes?: number; longestMs?: number } = {},
): Promise<{ shape: DecodedShape; bytes: Buffer }> {
  const output = join(folder, `${createHash("sha256").update(input).digest("hex")}.wav`);
  rmSync(output, { force: true });
  const limits = { outputBytes, memoryBytes: MEMORY_BYTES };
  const shape = await decodeFile(BUNDLED, input, output, { limits, longestMs, signal: NEVER });
  return { shape, bytes: readFileSync(output) };
}

/**
 * How a fixture that says the same sentence as `mono-16000.flac` came out: its shape, the likeness of
 * its loudness to that file's, and the seconds by which it is longer. `loadDecoders` comes before.
 */
export async function decodeSpoken(folder: string, name: string) {
  const { shape, bytes } = await decodeBundled(folder, new URL(name, FIXTURES).pathname);
  const samples = new Int16Array(Uint8Array.from(bytes.subarray(WAV_HEADER_BYTES)).buffer);
  const { channels } = shape;
  const spoken = envelope(decodedSound(soundBytes("mono-16000.flac")), RATE);
  // Encoders put up to a fifth of a second of silence in front.
  const likenesses = Array.from({ length: 11 }, (_, shift) =>
    likeness(envelope(samples.subarray(shift * 320 * channels), RATE, channels), spoken),
  );
  return {
    ...shape,
    bytes: bytes.length,
    likeness: Math.max(...likenesses),
    longerBySeconds: shape.frames / RATE - spoken.length * 0.02,
  };
}
