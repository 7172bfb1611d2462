import { OpusDecoder } from "opus-decoder";
import {
  isOpusMediaType,
  isOpusPacket,
  opusPacketSamples,
  splitOpusPackets,
} from "../../base/audio/opus-packets.ts";
import { readMono, toInt16 } from "../../base/audio/pcm-samples.ts";
import { SESSION_RATE } from "../../base/audio/sample-rate.ts";
import { SincInterpolator } from "../../base/audio/sinc-interpolator.ts";
import {
  bytesPerFrame,
  isAudioFormatError,
  type PcmFormat,
  parsePcmMediaType,
  parseWavHeader,
} from "../../base/audio/wav.ts";
import { isAppError } from "../../base/errors.ts";
import type { FolderBlobs } from "./blobs.ts";

/** Number of packets that are decoded before other tasks get the thread. */
const AT_ONCE = 50;

/**
 * Decodes length-prefixed Opus packets to 16 kHz mono. Each packet takes the time that its header
 * states; one that cannot be decoded becomes silence.
 */
export async function decodeOpus(bytes: Uint8Array): Promise<Int16Array> {
  const packets = splitOpusPackets(bytes);
  const lengths = packets.map((packet) => opusPacketSamples(packet, SESSION_RATE));
  const samples = new Int16Array(lengths.reduce((sum, length) => sum + length, 0));
  const decoder = new OpusDecoder({ sampleRate: SESSION_RATE, channels: 1 });
  await decoder.ready;
  try {
    let at = 0;
    for (const [index, packet] of packets.entries()) {
      const length = lengths[index] ?? 0;
      const [decoded] = isOpusPacket(packet) ? decoder.decodeFrame(packet).channelData : [];
      decoded?.subarray(0, length).forEach((value, n) => {
        samples[at + n] = toInt16(value * 32_768);
      });
      at += length;
      if (index % AT_ONCE === AT_ONCE - 1) await new Promise((resolve) => setImmediate(resolve));
    }
  } finally {
    decoder.free();
  }
  return samples;
}

export type AudioParts = Pick<FolderBlobs, "part">;

/** A chunk that has its place on the timeline. */
export interface PlacedFile {
  sequence: number;
  /** Samples at 16 kHz. */
  start: number;
  length: number;
  sampleRate: number;
  mediaType: string;
  sha256: string;
  bytes: number;
}

/** Decodes the whole file: a streamed chunk holds about ten seconds. */
async function readOpus(bytes: Buffer): Promise<OpenFile> {
  const samples = await decodeOpus(bytes);
  const head = Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength);
  const format = {
    encoding: "s16le",
    channels: 1,
    sampleRate: SESSION_RATE,
    bitsPerSample: 16,
  } as const;
  return { format, frames: samples.length, dataOffset: 0, head };
}

/** Enough for nearly every header, and for all of a short chunk. */
const HEAD_BYTES = 32 * 1024;
/** Longest header of an upload, bytes. */
const LONGEST_HEAD_BYTES = 256 * 1024;

interface OpenFile {
  format: PcmFormat;
  frames: number;
  dataOffset: number;
  /** The first bytes of the file. */
  head: Buffer;
}

/**
 * Samples of one stored chunk, read from the file in the requested parts. Parts that cannot be read
 * (no file, no audio) are silence.
 */
export class ChunkSamples {
  readonly file: PlacedFile;
  readonly #sessionId: string;
  readonly #options: AudioParts;
  #opened: Promise<OpenFile | undefined> | undefined;

  constructor(sessionId: string, file: PlacedFile, options: AudioParts) {
    this.file = file;
    this.#sessionId = sessionId;
    this.#options = options;
  }

  /**
   * Samples at 16 kHz from `from` on, counted from the chunk's start. The neighbouring chunks
   * supply the frames that the interpolation needs beyond its ends.
   */
  async samples(
    from: number,
    count: number,
    before: ChunkSamples | undefined,
    after: ChunkSamples | undefined,
  ): Promise<Int16Array> {
    const { sampleRate } = this.file;
    if (sampleRate === SESSION_RATE) return this.frames(from, count);
    const total = (await this.#open())?.frames;
    if (total === undefined) return new Int16Array(count);
    const interpolator = SincInterpolator.of(sampleRate);
    const span = interpolator.span(from, count);
    const frames = await this.frames(span.from, span.to - span.from);
    if (span.from < 0 && before !== undefined && before.#leadsTo(this)) {
      const its = (await before.#open())?.frames ?? 0;
      const missing = Math.min(-span.from, frames.length);
      frames.set(await before.frames(its + span.from, missing));
    }
    if (span.to > total && after !== undefined && this.#leadsTo(after)) {
      const have = Math.max(0, total - span.from);
      if (have < frames.length) frames.set(await after.frames(0, frames.length - have), have);
    }
    return interpolator.read(from, count, frames);
  }

  /** Reads `count` frames at the chunk's own rate; frames outside of the chunk are silence. */
  async frames(from: number, count: number): Promise<Int16Array> {
    const frames = new Int16Array(count);
    const open = await this.#open();
    const first = Math.max(0, from);
    const last = Math.min(from + count, open?.frames ?? 0);
    if (open === undefined || first >= last) return frames;
    const size = bytesPerFrame(open.format);
    const bytes = await this.#bytes(
      open.head,
      open.dataOffset + first * size,
      (last - first) * size,
    );
    frames.set(readMono(open.format, bytes).subarray(0, last - first), first - from);
    return frames;
  }

  #leadsTo({ file }: ChunkSamples): boolean {
    return (
      this.file.sampleRate === file.sampleRate && this.file.start + this.file.length === file.start
    );
  }

  #open(): Promise<OpenFile | undefined> {
    this.#opened ??= this.#readHead();
    return this.#opened;
  }

  async #readHead(): Promise<OpenFile | undefined> {
    const { bytes, mediaType } = this.file;
    const head = await this.#part(0, Math.min(bytes, HEAD_BYTES));
    if (isOpusMediaType(mediaType)) return readOpus(await this.#part(0, bytes));
    if (mediaType.startsWith("audio/pcm")) {
      const format = parsePcmMediaType(mediaType);
      if (isAudioFormatError(format) || head.length === 0) return undefined;
      const frames = Math.floor(bytes / bytesPerFrame(format));
      return { format, frames, dataOffset: 0, head };
    }
    let wav = parseWavHeader(head, bytes);
    if (isAudioFormatError(wav) && head.length < bytes) {
      wav = parseWavHeader(await this.#part(0, Math.min(bytes, LONGEST_HEAD_BYTES)), bytes);
    }
    if (isAudioFormatError(wav)) return undefined;
    return { format: wav, frames: wav.frames, dataOffset: wav.dataOffset, head };
  }

  async #bytes(head: Buffer, from: number, length: number): Promise<Buffer> {
    if (from + length <= head.length) return head.subarray(from, from + length);
    return this.#part(from, length);
  }

  async #part(from: number, length: number): Promise<Buffer> {
    try {
      return await this.#options.part(this.#sessionId, this.file.sha256, from, length);
    } catch (error) {
      if (isAppError(error, "not_found")) return Buffer.alloc(0);
      throw error;
    }
  }
}
