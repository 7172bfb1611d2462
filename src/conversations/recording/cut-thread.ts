/**
 * Entry point of a thread that cuts one long recording into files of raw samples, one after the
 * other, each when it is asked for. It ends with its recording.
 */
import { createHash } from "node:crypto";
import { closeSync, openSync, readFileSync, readSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { parentPort, workerData } from "node:worker_threads";
import { SESSION_RATE } from "../../base/audio/sample-rate.ts";
import { SessionRateStream } from "../../base/audio/session-rate-stream.ts";
import {
  bytesPerFrame,
  isAudioFormatError,
  type PcmFormat,
  parsePcmMediaType,
  parseWavHeader,
} from "../../base/audio/wav.ts";
import { openSoundFile } from "../../base/codecs/sound-file.ts";
import { loadDecoders, SoundReader } from "../../base/codecs/sound-reader.ts";
import { errnoOf, errorMessage } from "../../base/errors.ts";
import { newId } from "../../base/ids.ts";

/** The recording, and how it is cut. */
export interface CutOrder {
  /** Where the recording is, unless it is in memory. */
  path?: string;
  data?: Uint8Array;
  /** As `inspectAudio` found it. */
  mediaType: string;
  /** Folder of the new files. */
  folder: string;
  /** Length of each at most, seconds. */
  seconds: number;
  /** Size of each at most: a worker takes a chunk as one message. */
  bytes: number;
}

/** One of the files; whoever gets it moves it away. */
export interface CutPart {
  path: string;
  mediaType: string;
  bytes: number;
  /** Hex. */
  sha256: string;
  frames: number;
  sampleRate: number;
}

/** An answer to each request; `part` is undefined when there are no more. */
export type CutAnswer = { part: CutPart | undefined } | { failed: string; errno?: string };

const HEAD_BYTES = 256 * 1024;
const COPY_BYTES = 1024 * 1024;
/** Frames that are decoded at a time. */
const STEP = 48_000;

const order = workerData as CutOrder;

/** Gives samples from the beginning on, about `limit` frames; undefined at the end. */
interface Samples {
  mediaType: string;
  sampleRate: number;
  frameBytes: number;
  next(limit: number): Uint8Array | undefined;
}

function rawSamples(format: PcmFormat, from: number, length: number): Samples {
  const { path, data } = order;
  const { sampleRate, channels, encoding } = format;
  const frameBytes = bytesPerFrame(format);
  const fd = path === undefined ? undefined : openSync(path, "r");
  let at = from;
  return {
    mediaType: `audio/pcm;rate=${sampleRate};channels=${channels};encoding=${encoding}`,
    sampleRate,
    frameBytes,
    next(limit) {
      const wanted = Math.min(limit * frameBytes, COPY_BYTES - (COPY_BYTES % frameBytes));
      const count = Math.min(wanted, from + length - at);
      if (count < frameBytes) return undefined;
      const part = data?.subarray(at, at + count) ?? Buffer.allocUnsafe(count);
      if (fd !== undefined && readSync(fd, part, 0, count, at) < count) return undefined;
      at += count;
      return part;
    },
  };
}

function wavSamples(): Samples {
  const { path, data } = order;
  const size = path === undefined ? (data?.byteLength ?? 0) : statSync(path).size;
  let head = data;
  if (path !== undefined) {
    const buffer = Buffer.alloc(Math.min(HEAD_BYTES, size));
    const fd = openSync(path, "r");
    readSync(fd, buffer, 0, buffer.byteLength, 0);
    closeSync(fd);
    head = buffer;
  }
  const wav = parseWavHeader(head ?? new Uint8Array(0), size);
  if (isAudioFormatError(wav)) throw new Error(wav.error);
  return rawSamples(wav, wav.dataOffset, wav.dataLength);
}

function pcmSamples(): Samples {
  const { path, data, mediaType } = order;
  const size = path === undefined ? (data?.byteLength ?? 0) : statSync(path).size;
  const format = parsePcmMediaType(mediaType);
  if (isAudioFormatError(format)) throw new Error(format.error);
  return rawSamples(format, 0, size - (size % bytesPerFrame(format)));
}

/**
 * Compressed audio at 16 kHz, with two channels at most: a few bytes of it may hold hours at a high
 * rate in many channels, of which nobody would hear more.
 */
async function decodedSamples(): Promise<Samples> {
  await loadDecoders();
  const bytes = order.data ?? readFileSync(order.path ?? "");
  const file = openSoundFile(bytes);
  if ("error" in file) throw new Error(file.error);
  const reader = new SoundReader(file, bytes);
  const stream = new SessionRateStream(file.sampleRate, file.channels);
  const { channels } = stream;
  let rest: Int16Array = new Int16Array(0);
  let isRead = false;
  return {
    mediaType: `audio/pcm;rate=${SESSION_RATE};channels=${channels};encoding=s16le`,
    sampleRate: SESSION_RATE,
    frameBytes: 2 * channels,
    next(limit) {
      while (rest.length === 0 && !isRead) {
        const part = reader.read(STEP);
        if (part.length > 0) rest = stream.push(part);
        else if (reader.isBroken) throw new Error("Hardly anything of the file can be decoded.");
        else {
          isRead = true;
          reader.close();
          rest = stream.end();
        }
      }
      const part = rest.subarray(0, limit * channels);
      rest = rest.subarray(part.length);
      if (part.length === 0) return undefined;
      return new Uint8Array(part.buffer, part.byteOffset, part.byteLength);
    },
  };
}

/** Writes the next file. */
function cut(samples: Samples): CutPart | undefined {
  const { mediaType, sampleRate, frameBytes } = samples;
  const wanted = Math.min(order.seconds * sampleRate, Math.floor(order.bytes / frameBytes));
  const first = samples.next(wanted);
  if (first === undefined) return undefined;
  const path = join(order.folder, `${newId()}.upload`);
  const hash = createHash("sha256");
  const fd = openSync(path, "wx", 0o600);
  let bytes = 0;
  try {
    for (let part: Uint8Array | undefined = first; part !== undefined; ) {
      hash.update(part);
      for (let done = 0; done < part.byteLength; ) done += writeSync(fd, part, done);
      bytes += part.byteLength;
      const left = wanted - bytes / frameBytes;
      part = left > 0 ? samples.next(left) : undefined;
    }
  } finally {
    closeSync(fd);
  }
  const frames = bytes / frameBytes;
  return { path, mediaType, bytes, sha256: hash.digest("hex"), frames, sampleRate };
}

function open(): Samples | Promise<Samples> {
  if (order.mediaType === "audio/wav") return wavSamples();
  return order.mediaType.startsWith("audio/pcm") ? pcmSamples() : decodedSamples();
}

let opened: Samples | Promise<Samples> | undefined;

parentPort?.on("message", () => {
  void answer().then((message) => parentPort?.postMessage(message));
});

async function answer(): Promise<CutAnswer> {
  try {
    opened ??= open();
    return { part: cut(await opened) };
  } catch (error) {
    const errno = errnoOf(error);
    return { failed: errorMessage(error), ...(errno !== undefined && { errno }) };
  }
}
