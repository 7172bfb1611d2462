import { isOpusMediaType, splitOpusPackets } from "../../src/base/audio/opus-packets.ts";
import { readChannels, readMono } from "../../src/base/audio/pcm-samples.ts";
import { SESSION_RATE } from "../../src/base/audio/sample-rate.ts";
import {
  bytesPerFrame,
  isAudioFormatError,
  type PcmFormat,
  parsePcmMediaType,
  parseWavHeader,
} from "../../src/base/audio/wav.ts";
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
  /** Returns further frames, about `limit`; none at the end. */
  read(limit: number): Int16Array;
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

/** Decodes packets as they are read, so that the packets of a session are decoded in order. */
class OpusChunk implements ChunkDecoder {
  readonly sampleRate = SESSION_RATE;
  readonly #packets: readonly Uint8Array[];
  readonly #stream: OpusStream;
  #next = 0;

  constructor(packets: readonly Uint8Array[], stream: OpusStream) {
    this.#packets = packets;
    this.#stream = stream;
  }

  read(limit: number): Int16Array {
    const parts: Int16Array[] = [];
    let length = 0;
    while (length < limit) {
      const packet = this.#packets[this.#next];
      if (packet === undefined) break;
      this.#next += 1;
      const part = this.#stream.decode(packet);
      parts.push(part);
      length += part.length;
    }
    return joinSamples(parts);
  }
}

/**
 * Opens one stored chunk: WAV, raw PCM or µ-law of a declared format, or, with the session's Opus
 * stream, Opus packets that each follow their length. With one channel, those of the audio are mixed.
 * Throws AppError `not_audio` or `unsupported_media_type` with a sentence for people.
 */
export function openChunk(
  mediaType: string,
  data: Uint8Array,
  opus?: OpusStream,
  channels = 1,
): ChunkDecoder {
  const essence = mediaType.split(";")[0]?.trim().toLowerCase() ?? "";
  if (WAV_TYPES.has(essence)) return openWav(data, channels);
  if (essence === "audio/pcm") return openPcm(mediaType, data, channels);
  if (opus !== undefined && isOpusMediaType(mediaType)) return openOpus(data, opus, channels);
  throw new AppError(
    "unsupported_media_type",
    `${essence || "Audio without a media type"} cannot be read: send WAV or raw PCM.`,
  );
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
  if (format.encoding === "f32le" && isNoNumbers(samples)) {
    throw new AppError("not_audio", "Most samples of the WAV file are no numbers.");
  }
  return new PcmChunk(format, samples, channels);
}

/**
 * True when more than half of the samples are infinite or NaN: the bytes are other data, or from a
 * broken recorder.
 */
function isNoNumbers(samples: Uint8Array): boolean {
  const view = new DataView(samples.buffer, samples.byteOffset, samples.byteLength);
  let odd = 0;
  for (let at = 0; at + 4 <= view.byteLength; at += 4) {
    if (!Number.isFinite(view.getFloat32(at, true))) odd += 4;
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
