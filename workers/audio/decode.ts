import { AppError } from "../../src/base/errors.ts";
import { readMono } from "../../src/base/pcm-samples.ts";
import {
  bytesPerFrame,
  isAudioFormatError,
  type PcmFormat,
  parsePcmMediaType,
  parseWavHeader,
} from "../../src/base/wav-header.ts";

const WAV_TYPES: ReadonlySet<string> = new Set([
  "audio/wav",
  "audio/wave",
  "audio/x-wav",
  "audio/vnd.wave",
]);

/** Reads the samples of one chunk piece by piece, as 16-bit mono at the chunk's own rate. */
export class ChunkDecoder {
  readonly sampleRate: number;
  readonly frames: number;
  readonly #format: PcmFormat;
  readonly #samples: Uint8Array;
  #next = 0;

  constructor(format: PcmFormat, samples: Uint8Array) {
    this.#format = format;
    this.#samples = samples;
    this.sampleRate = format.sampleRate;
    this.frames = Math.floor(samples.byteLength / bytesPerFrame(format));
  }

  /** Up to `limit` further frames, the mean of the channels; empty at the end. */
  read(limit: number): Int16Array {
    const size = bytesPerFrame(this.#format);
    const from = this.#next;
    this.#next = Math.min(from + limit, this.frames);
    return readMono(this.#format, this.#samples.subarray(from * size, this.#next * size));
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
