import {
  isOpusMediaType,
  OPUS_MEDIA_TYPE,
  opusPacketSamples,
  splitOpusPackets,
} from "../../base/audio/opus-packets.ts";
import { readMono, toChannels } from "../../base/audio/pcm-samples.ts";
import { SESSION_RATE } from "../../base/audio/sample-rate.ts";
import { SincInterpolator } from "../../base/audio/sinc-interpolator.ts";
import {
  bytesPerFrame,
  isAudioFormatError,
  type PcmFormat,
  parsePcmMediaType,
  parseWavHeader,
} from "../../base/audio/wav.ts";
import { plainHead } from "../../base/codecs/opus-head.ts";
import { openSoundFile } from "../../base/codecs/sound-file.ts";
import { soundKind } from "../../base/codecs/sound-kinds.ts";
import { SoundReader } from "../../base/codecs/sound-reader.ts";
import { SOUND_FILE_TYPES } from "../../base/codecs/sound-types.ts";

/** Reads `length` bytes of the chunk's file from `from` on, fewer at its end; none when it is gone. */
type PartReader = (from: number, length: number) => Buffer;

/** Neighbours that last longer, seconds, are not decoded for the few frames at a boundary. */
const LONGEST_NEIGHBOUR = 60;
/** Frames that are decoded at a time. */
const STEP = 48_000;

/** A chunk that has its place on the timeline. */
export interface TimedFile {
  sequence: number;
  /** Samples at 16 kHz. */
  start: number;
  length: number;
  sampleRate: number;
  mediaType: string;
  sha256: string;
  bytes: number;
  /** Of a later part of a stream: the stream's head, and what began in the part before. */
  lead?: Uint8Array | undefined;
  /** SHA-256 in hex of what the file may hold; undefined where that is not known. */
  digests?: readonly string[] | undefined;
}

/** Decoded samples as an open file. */
function decodedFile(samples: Int16Array, sampleRate: number): OpenFile {
  const head = Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength);
  const format = { encoding: "s16le", channels: 1, sampleRate, bitsPerSample: 16 } as const;
  return { format, frames: samples.length, dataOffset: 0, head };
}

/** Decodes packets that each follow their length: a streamed chunk holds about ten seconds. */
function readOpus(bytes: Uint8Array): OpenFile {
  const packets = splitOpusPackets(bytes);
  const frames = packets.reduce((sum, each) => sum + opusPacketSamples(each, SESSION_RATE), 0);
  const file = { sampleRate: SESSION_RATE, channels: 1, frames, codec: "opus" as const };
  const audio = { head: plainHead(1, 0), packets, skip: 0 };
  const reader = new SoundReader({ ...file, mediaType: OPUS_MEDIA_TYPE, audio }, bytes);
  return decodedFile(readAll(reader), SESSION_RATE);
}

function readFile(bytes: Uint8Array, isPart: boolean): OpenFile | undefined {
  const file = openSoundFile(bytes, isPart);
  if ("error" in file) return undefined;
  try {
    return decodedFile(readAll(new SoundReader(file, bytes)), file.sampleRate);
  } catch (error) {
    // The headers are damaged.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** All samples, mixed to one channel. */
function readAll(reader: SoundReader): Int16Array {
  const samples = new Int16Array(reader.frames);
  let filled = 0;
  try {
    for (let part = reader.read(STEP); part.length > 0; part = reader.read(STEP)) {
      const mono = toChannels(part, reader.channels, 1);
      samples.set(mono, filled);
      filled += mono.length;
    }
  } finally {
    reader.close();
  }
  return samples;
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
  file: TimedFile;
  readonly #part: PartReader;
  #opened: { file: OpenFile | undefined } | undefined;

  constructor(file: TimedFile, part: PartReader) {
    this.file = file;
    this.#part = part;
  }

  /**
   * Samples at 16 kHz from `from` on, counted from the chunk's start. The neighbouring chunks
   * supply the frames that the interpolation needs beyond its ends.
   */
  samples(
    from: number,
    count: number,
    before: ChunkSamples | undefined,
    after: ChunkSamples | undefined,
  ): Int16Array {
    const { sampleRate } = this.file;
    if (sampleRate === SESSION_RATE) return this.frames(from, count);
    const total = this.#open()?.frames;
    if (total === undefined) return new Int16Array(count);
    const interpolator = SincInterpolator.of(sampleRate);
    const span = interpolator.span(from, count);
    const frames = this.frames(span.from, span.to - span.from);
    if (span.from < 0 && before !== undefined && before.#isShort && before.#leadsTo(this)) {
      const its = before.#open()?.frames ?? 0;
      const missing = Math.min(-span.from, frames.length);
      frames.set(before.frames(its + span.from, missing));
    }
    if (span.to > total && after !== undefined && after.#isShort && this.#leadsTo(after)) {
      const have = Math.max(0, total - span.from);
      if (have < frames.length) frames.set(after.frames(0, frames.length - have), have);
    }
    return interpolator.read(from, count, frames);
  }

  /** Reads `count` frames at the chunk's own rate; frames outside of the chunk are silence. */
  frames(from: number, count: number): Int16Array {
    const frames = new Int16Array(count);
    const open = this.#open();
    const first = Math.max(0, from);
    const last = Math.min(from + count, open?.frames ?? 0);
    if (open === undefined || first >= last) return frames;
    const size = bytesPerFrame(open.format);
    const bytes = this.#bytes(open.head, open.dataOffset + first * size, (last - first) * size);
    frames.set(readMono(open.format, bytes).subarray(0, last - first), first - from);
    return frames;
  }

  #leadsTo({ file }: ChunkSamples): boolean {
    return (
      this.file.sampleRate === file.sampleRate && this.file.start + this.file.length === file.start
    );
  }

  get #isShort(): boolean {
    return this.file.length <= LONGEST_NEIGHBOUR * SESSION_RATE;
  }

  #open(): OpenFile | undefined {
    this.#opened ??= { file: this.#readHead() };
    return this.#opened.file;
  }

  #readHead(): OpenFile | undefined {
    const { bytes, mediaType, lead } = this.file;
    const head = this.#part(0, Math.min(bytes, HEAD_BYTES));
    if (bytes > 0 && head.length === 0) return undefined;
    if (isOpusMediaType(mediaType)) return readOpus(this.#part(0, bytes));
    const [essence = ""] = mediaType.split(";");
    // Sound that was silenced in parts is kept as WAV under its old type.
    if (SOUND_FILE_TYPES.has(essence) && soundKind(head) !== "wav") {
      const file = this.#part(0, bytes);
      return readFile(lead === undefined ? file : Buffer.concat([lead, file]), lead !== undefined);
    }
    if (mediaType.startsWith("audio/pcm")) {
      const format = parsePcmMediaType(mediaType);
      if (isAudioFormatError(format) || head.length === 0) return undefined;
      const frames = Math.floor(bytes / bytesPerFrame(format));
      return { format, frames, dataOffset: 0, head };
    }
    let wav = parseWavHeader(head, bytes);
    if (isAudioFormatError(wav) && head.length < bytes) {
      wav = parseWavHeader(this.#part(0, Math.min(bytes, LONGEST_HEAD_BYTES)), bytes);
    }
    if (isAudioFormatError(wav)) return undefined;
    return { format: wav, frames: wav.frames, dataOffset: wav.dataOffset, head };
  }

  #bytes(head: Buffer, from: number, length: number): Buffer {
    if (from + length <= head.length) return head.subarray(from, from + length);
    return this.#part(from, length);
  }
}
