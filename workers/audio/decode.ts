import { AppError } from "../../src/base/errors.ts";
import {
  bytesPerFrame,
  isAudioFormatError,
  type PcmFormat,
  parsePcmMediaType,
  parseWavHeader,
  type SampleEncoding,
} from "../../src/base/wav-header.ts";

const WAV_TYPES: ReadonlySet<string> = new Set([
  "audio/wav",
  "audio/wave",
  "audio/x-wav",
  "audio/vnd.wave",
]);

type SampleReader = (view: DataView, at: number) => number;

/** Samples as parts of full scale, -1..1, scaled to 16 bits. */
const READERS: Readonly<Record<SampleEncoding, SampleReader>> = {
  u8: (view, at) => (view.getUint8(at) - 128) * 256,
  s16le: (view, at) => view.getInt16(at, true),
  s24le: (view, at) => (view.getUint16(at, true) + view.getInt8(at + 2) * 65_536) / 256,
  s32le: (view, at) => view.getInt32(at, true) / 65_536,
  f32le: (view, at) => view.getFloat32(at, true) * 32_768,
};

/** Reads the samples of one chunk piece by piece, as 16-bit mono at the chunk's own rate. */
export class ChunkDecoder {
  readonly sampleRate: number;
  readonly frames: number;
  readonly #format: PcmFormat;
  readonly #view: DataView;
  readonly #read: SampleReader;
  #next = 0;

  constructor(format: PcmFormat, samples: Uint8Array) {
    this.#format = format;
    this.#view = new DataView(samples.buffer, samples.byteOffset, samples.byteLength);
    this.#read = READERS[format.encoding];
    this.sampleRate = format.sampleRate;
    this.frames = Math.floor(samples.byteLength / bytesPerFrame(format));
  }

  /** Up to `limit` further frames, the mean of the channels; empty at the end. */
  read(limit: number): Int16Array {
    const count = Math.min(limit, this.frames - this.#next);
    const mono = new Int16Array(count);
    for (let index = 0; index < count; index++) mono[index] = this.#mean(this.#next + index);
    this.#next += count;
    return mono;
  }

  #mean(frame: number): number {
    const { channels, bitsPerSample } = this.#format;
    const width = bitsPerSample / 8;
    const at = frame * channels * width;
    const first = this.#read(this.#view, at);
    const sum = channels === 2 ? (first + this.#read(this.#view, at + width)) / 2 : first;
    // NaN of a broken float file becomes silence.
    return Math.max(-32_768, Math.min(32_767, Math.round(sum) || 0));
  }
}

/**
 * Opens one stored chunk: WAV, or raw PCM of a declared format. Throws AppError `not_audio`
 * or `unsupported_media_type` with a sentence for people.
 */
export function openChunk(mediaType: string, data: Uint8Array): ChunkDecoder {
  const essence = mediaType.split(";")[0]?.trim().toLowerCase() ?? "";
  if (WAV_TYPES.has(essence)) return openWav(data);
  if (essence === "audio/pcm") return openPcm(mediaType, data);
  throw new AppError(
    "unsupported_media_type",
    `${essence || "Audio without a media type"} cannot be read: send WAV or raw PCM.`,
  );
}

function openWav(data: Uint8Array): ChunkDecoder {
  const format = parseWavHeader(data);
  if (isAudioFormatError(format)) throw new AppError(format.code, format.error);
  const { dataOffset, dataLength } = format;
  return new ChunkDecoder(format, data.subarray(dataOffset, dataOffset + dataLength));
}

function openPcm(mediaType: string, data: Uint8Array): ChunkDecoder {
  const format = parsePcmMediaType(mediaType);
  if (isAudioFormatError(format)) throw new AppError(format.code, format.error);
  const decoder = new ChunkDecoder(format, data);
  if (decoder.frames === 0) throw new AppError("not_audio", "The chunk holds no samples.");
  return decoder;
}
