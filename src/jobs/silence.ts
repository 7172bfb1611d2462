import {
  bytesPerFrame,
  isAudioFormatError,
  type PcmFormat,
  parsePcmMediaType,
  parseWavHeader,
  type SampleEncoding,
} from "../base/wav-header.ts";

/** A span of a chunk's audio in seconds from its beginning. */
export interface ChunkSpan {
  from: number;
  to: number;
}

/** The byte of silence where it is not 0: unsigned samples rest in the middle, µ-law is inverted. */
const QUIET: Partial<Record<SampleEncoding, number>> = { u8: 0x80, mulaw: 0xff };

/**
 * The same audio with silence in the spans: container, length and everything
 * outside stay as they are. Returns undefined when it cannot be read.
 */
export function silenceSpans(
  bytes: Uint8Array,
  mediaType: string,
  spans: readonly ChunkSpan[],
): Uint8Array | undefined {
  const samples = samplesOf(bytes, mediaType);
  if (samples === undefined) return undefined;
  const { format, offset, frames } = samples;
  const copy = Uint8Array.from(bytes);
  const size = bytesPerFrame(format);
  const quiet = QUIET[format.encoding] ?? 0;
  for (const { from, to } of spans) {
    const first = Math.max(0, Math.floor(from * format.sampleRate));
    const last = Math.min(frames, Math.ceil(to * format.sampleRate));
    if (last > first) copy.fill(quiet, offset + first * size, offset + last * size);
  }
  return copy;
}

function samplesOf(
  bytes: Uint8Array,
  mediaType: string,
): { format: PcmFormat; offset: number; frames: number } | undefined {
  if (mediaType.startsWith("audio/pcm")) {
    const format = parsePcmMediaType(mediaType);
    if (isAudioFormatError(format)) return undefined;
    return { format, offset: 0, frames: Math.floor(bytes.byteLength / bytesPerFrame(format)) };
  }
  const wav = parseWavHeader(bytes);
  if (isAudioFormatError(wav)) return undefined;
  return { format: wav, offset: wav.dataOffset, frames: wav.frames };
}
