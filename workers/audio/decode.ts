import { isOpusMediaType, splitOpusPackets } from "../../src/base/audio/opus-packets.ts";
import { readChannels, readMono, toChannels } from "../../src/base/audio/pcm-samples.ts";
import { SESSION_RATE } from "../../src/base/audio/sample-rate.ts";
import {
  bytesPerFrame,
  isAudioFormatError,
  type PcmFormat,
  parsePcmMediaType,
  parseWavHeader,
} from "../../src/base/audio/wav.ts";
import { openSoundFile, type SoundFile } from "../../src/base/codecs/sound-file.ts";
import { soundKind } from "../../src/base/codecs/sound-kinds.ts";
import { SoundReader } from "../../src/base/codecs/sound-reader.ts";
import { isPartMediaType, SOUND_FILE_TYPES } from "../../src/base/codecs/sound-types.ts";
import { AppError } from "../../src/base/errors.ts";
import type { OpusStream } from "./opus-codec.ts";

const WAV_TYPES: ReadonlySet<string> = new Set([
  "audio/wav",
  "audio/wave",
  "audio/x-wav",
  "audio/vnd.wave",
]);

/** Reads the samples of one chunk in parts: 16 bits, the channels interleaved. */
export interface ChunkDecoder {
  /** Rate of the samples that `read` returns, Hz. */
  readonly sampleRate: number;
  /** Whether, once all was read, so little could be decoded that the chunk is no audio. */
  readonly isBroken?: boolean;
  /** Returns further frames, about `limit`; none at the end. */
  read(limit: number): Int16Array;
  close?(): void;
}

/** Decodes PCM and µ-law at the chunk's own rate. */
class PcmChunk implements ChunkDecoder {
  readonly sampleRate: number;
  readonly frames: number;
  readonly #format: PcmFormat;
  readonly #samples: Uint8Array;
  readonly #channels: number;
  #next = 0;

  constructor(format: PcmFormat, samples: Uint8Array, channels: number) {
    this.#format = format;
    this.#samples = samples;
    this.#channels = channels;
    this.sampleRate = format.sampleRate;
    this.frames = Math.floor(samples.byteLength / bytesPerFrame(format));
  }

  read(limit: number): Int16Array {
    const size = bytesPerFrame(this.#format);
    const from = this.#next;
    this.#next = Math.min(from + limit, this.frames);
    const bytes = this.#samples.subarray(from * size, this.#next * size);
    if (this.#channels === 1) return readMono(this.#format, bytes);
    return readChannels(this.#format, bytes, this.#channels);
  }
}

/** Which of the samples of an Opus file count, and how many channels it has. */
interface OpusBounds {
  skip: number;
  frames: number;
  channels: number;
}

/** Decodes packets as they are read, so that the packets of a session are decoded in order. */
class OpusChunk implements ChunkDecoder {
  readonly sampleRate = SESSION_RATE;
  readonly #packets: readonly Uint8Array[];
  readonly #stream: OpusStream;
  readonly #own: number;
  #skip: number;
  #left: number;
  #next = 0;

  constructor(packets: readonly Uint8Array[], stream: OpusStream, bounds?: OpusBounds) {
    this.#packets = packets;
    this.#stream = stream;
    this.#skip = bounds?.skip ?? 0;
    this.#left = bounds?.frames ?? Number.POSITIVE_INFINITY;
    this.#own = bounds?.channels ?? stream.channels;
  }

  read(limit: number): Int16Array {
    const parts: Int16Array[] = [];
    let length = 0;
    while (length < limit * this.#stream.channels) {
      const packet = this.#packets[this.#next];
      if (packet === undefined) break;
      this.#next += 1;
      const part = this.#bounded(this.#stream.decode(packet));
      parts.push(part);
      length += part.length;
    }
    return joinSamples(parts);
  }

  #bounded(samples: Int16Array): Int16Array {
    const { channels } = this.#stream;
    // A decoder of two channels gives a single one twice.
    if (this.#own < channels) {
      for (let at = 1; at < samples.length; at += channels) samples[at] = 0;
    }
    const skipped = Math.min(this.#skip, samples.length / channels);
    this.#skip -= skipped;
    const kept = Math.min(this.#left, samples.length / channels - skipped);
    this.#left -= kept;
    return samples.subarray(skipped * channels, (skipped + kept) * channels);
  }
}

/** Decodes a file by itself. */
class FileChunk implements ChunkDecoder {
  readonly sampleRate: number;
  readonly #reader: SoundReader;
  readonly #channels: number;

  constructor(reader: SoundReader, channels: number) {
    this.#reader = reader;
    this.#channels = channels;
    this.sampleRate = reader.sampleRate;
  }

  get isBroken(): boolean {
    return this.#reader.isBroken;
  }

  read(limit: number): Int16Array {
    return toChannels(this.#reader.read(limit), this.#reader.channels, this.#channels);
  }

  close(): void {
    this.#reader.close();
  }
}

/**
 * Opens one stored chunk: a file of any kind that is read, told by its bytes; raw PCM, µ-law or
 * A-law of a declared format; or Opus packets that each follow their length. Opus is decoded by the
 * session's stream where that has its channels. With one channel, those of the audio are mixed.
 * Throws AppError `not_audio` or `unsupported_media_type` with a sentence for people.
 */
export function openChunk(
  mediaType: string,
  data: Uint8Array,
  opus?: OpusStream,
  channels = 1,
): ChunkDecoder {
  const essence = mediaType.split(";")[0]?.trim().toLowerCase() ?? "";
  const isFile = SOUND_FILE_TYPES.has(essence);
  // Sound that was silenced in parts is kept as WAV under its old type.
  if (WAV_TYPES.has(essence) || (isFile && soundKind(data) === "wav")) {
    return openWav(data, channels);
  }
  if (isFile) return openFile(data, isPartMediaType(mediaType), opus, channels);
  if (essence === "audio/pcm") return openPcm(mediaType, data, channels);
  if (opus !== undefined && isOpusMediaType(mediaType)) return openOpus(data, opus, channels);
  throw new AppError(
    "unsupported_media_type",
    `${essence || "Audio without a media type"} cannot be read: send WAV, FLAC, MP3, Ogg, WebM or raw PCM.`,
  );
}

function openFile(
  data: Uint8Array,
  isPart: boolean,
  opus: OpusStream | undefined,
  channels: number,
): ChunkDecoder {
  const file = openSoundFile(data, isPart);
  if ("error" in file) throw new AppError(file.code, file.error);
  if (file.codec === "opus" && opus?.channels === channels && file.channels <= 2) {
    const { packets, skip } = file.audio;
    return new OpusChunk(packets, opus, { skip, frames: file.frames, channels: file.channels });
  }
  return new FileChunk(openReader(file, data), channels);
}

function openReader(file: SoundFile, data: Uint8Array): SoundReader {
  try {
    return new SoundReader(file, data);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new AppError("not_audio", "The file's headers are damaged.", { cause: error });
  }
}

function openOpus(data: Uint8Array, stream: OpusStream, channels: number): ChunkDecoder {
  if (stream.channels !== channels) {
    const message = `Opus cannot be read as ${channels} channels: it has one or two.`;
    throw new AppError("unsupported_media_type", message);
  }
  const packets = splitOpusPackets(data);
  if (packets.length === 0) throw new AppError("not_audio", "The chunk holds no Opus packet.");
  return new OpusChunk(packets, stream);
}

function openWav(data: Uint8Array, channels: number): ChunkDecoder {
  const format = parseWavHeader(data);
  if (isAudioFormatError(format)) throw new AppError(format.code, format.error);
  const { dataOffset, dataLength } = format;
  const samples = data.subarray(dataOffset, dataOffset + dataLength);
  if (isNoNumbers(format, samples)) {
    throw new AppError("not_audio", "Most samples of the WAV file are no numbers.");
  }
  return new PcmChunk(format, samples, channels);
}

/**
 * True when more than half of the samples are infinite or NaN: the bytes are other data, or from a
 * broken recorder.
 */
function isNoNumbers({ encoding }: PcmFormat, samples: Uint8Array): boolean {
  if (encoding !== "f32le" && encoding !== "f64le") return false;
  const view = new DataView(samples.buffer, samples.byteOffset, samples.byteLength);
  const width = encoding === "f32le" ? 4 : 8;
  let odd = 0;
  for (let at = 0; at + width <= view.byteLength; at += width) {
    const value = width === 4 ? view.getFloat32(at, true) : view.getFloat64(at, true);
    if (!Number.isFinite(value)) odd += width;
  }
  return 2 * odd > samples.byteLength;
}

function openPcm(mediaType: string, data: Uint8Array, channels: number): ChunkDecoder {
  const format = parsePcmMediaType(mediaType);
  if (isAudioFormatError(format)) throw new AppError(format.code, format.error);
  const decoder = new PcmChunk(format, data, channels);
  if (decoder.frames === 0) throw new AppError("not_audio", "The chunk holds no samples.");
  return decoder;
}

function joinSamples(parts: readonly Int16Array[]): Int16Array {
  const whole = new Int16Array(parts.reduce((total, part) => total + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
