import { createReadStream, createWriteStream } from "node:fs";
import { open, rm } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { wavFileHeader } from "../audio/wav.ts";
import { type DecodedShape, DecodeFailure, type DecodeOptions, decodeFile } from "./decode-file.ts";
import type { DecoderProgram } from "./decoder-program.ts";

const HEADER_BYTES = 44;
const SAMPLE_BYTES = 2;

interface Decoded {
  path: string;
  shape: DecodedShape;
}

/**
 * Decodes a file of several recordings, of any kinds, to one WAV file: `decodeFile` for each, one
 * after the other. With one in mono and one in stereo all become stereo. The limits are those of
 * all together. Throws what `decodeFile` throws; the message names the recording.
 *
 * @param starts where each but the first begins, bytes; none for a usual file
 */
export async function decodeRecordings(
  program: DecoderProgram,
  { input, starts, output }: { input: string; starts: readonly number[]; output: string },
  { limits, longestMs, signal }: DecodeOptions,
): Promise<DecodedShape> {
  if (starts.length === 0) {
    return decodeFile(program, input, output, { limits, longestMs, signal });
  }
  const began = performance.now();
  const slice = `${output}.slice`;
  const decoded: Decoded[] = [];
  let left = limits.outputBytes;
  try {
    for (const [index, from] of [0, ...starts].entries()) {
      const path = `${output}.${index}`;
      await pipeline(sliceOf(input, from, starts[index]), createWriteStream(slice), { signal });
      const options = {
        limits: { ...limits, outputBytes: left },
        longestMs: Math.max(1, longestMs - (performance.now() - began)),
        signal,
      };
      const part: Decoded = { path, shape: { sampleRate: 0, channels: 0, frames: 0 } };
      decoded.push(part);
      part.shape = await decodeFile(program, slice, path, options).catch((error: unknown) => {
        throw named(error, decoded);
      });
      left -= SAMPLE_BYTES * part.shape.frames * part.shape.channels;
    }
    return await joined(decoded, output);
  } finally {
    const files = [slice, ...decoded.map(({ path }) => path)];
    await Promise.all(files.map((file) => rm(file, { force: true })));
  }
}

function sliceOf(input: string, from: number, to: number | undefined) {
  return createReadStream(input, { start: from, ...(to !== undefined && { end: to - 1 }) });
}

/** Says at which time what cannot be decoded would begin. */
function named(error: unknown, decoded: readonly Decoded[]): unknown {
  if (!(error instanceof DecodeFailure) || error.reason !== "undecodable") return error;
  const before = decoded.slice(0, -1);
  const seconds = before.reduce((sum, { shape }) => sum + shape.frames / shape.sampleRate, 0);
  const message = `Recording ${decoded.length} of the file, after ${seconds.toFixed(1)} s: ${error.message}`;
  return new DecodeFailure(error.reason, message);
}

async function joined(decoded: readonly Decoded[], output: string): Promise<DecodedShape> {
  const channels = Math.max(...decoded.map(({ shape }) => shape.channels));
  const sampleRate = decoded[0]?.shape.sampleRate ?? 0;
  const frames = decoded.reduce((sum, { shape }) => sum + shape.frames, 0);
  const target = await open(output, "wx", 0o600);
  try {
    await target.write(wavFileHeader({ sampleRate, channels, frames }));
    for (const { path, shape } of decoded) {
      for await (const part of createReadStream(path, { start: HEADER_BYTES })) {
        const bytes = part as Buffer;
        // Parts of a file that is read whole are of an even length but for the last one.
        await target.write(shape.channels < channels ? doubled(bytes) : bytes);
      }
    }
  } finally {
    await target.close();
  }
  return { sampleRate, channels, frames };
}

/** Each sample of one channel for both. */
function doubled(mono: Buffer): Buffer {
  const stereo = Buffer.allocUnsafe(2 * mono.length);
  for (let at = 0; at + 1 < mono.length; at += SAMPLE_BYTES) {
    const sample = mono.readInt16LE(at);
    stereo.writeInt16LE(sample, 2 * at);
    stereo.writeInt16LE(sample, 2 * at + SAMPLE_BYTES);
  }
  return stereo;
}
