import {
  isOpusMediaType,
  joinOpusPackets,
  opusPacketSamples,
  splitOpusPackets,
} from "../../base/audio/opus-packets.ts";
import {
  bytesPerFrame,
  isAudioFormatError,
  type PcmFormat,
  parsePcmMediaType,
  parseWavHeader,
  type SampleEncoding,
} from "../../base/audio/wav-header.ts";

/** A span of a chunk's audio in seconds from its beginning. */
export interface ChunkSpan {
  from: number;
  to: number;
}

/** Opus counts time at 48 kHz (RFC 6716, section 2). */
const OPUS_CLOCK = 48_000;
/** First bytes of full-band CELT packets of 20, 10, 5 and 2.5 ms (RFC 6716, section 3.1). */
const SILENT_TOCS = [
  { toc: 0xf8, length: 960 },
  { toc: 0xf0, length: 480 },
  { toc: 0xe8, length: 240 },
  { toc: 0xe0, length: 120 },
];

/** The byte of silence where it is not 0: unsigned samples rest in the middle, µ-law is inverted. */
const QUIET: Partial<Record<SampleEncoding, number>> = { u8: 0x80, mulaw: 0xff };

/**
 * The same audio with silence in the spans: container, length in time and
 * everything outside stay as they are. Returns undefined when it cannot be read.
 */
export function silenceSpans(
  bytes: Uint8Array,
  mediaType: string,
  spans: readonly ChunkSpan[],
): Uint8Array | undefined {
  if (isOpusMediaType(mediaType)) return silencePackets(bytes, spans);
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

/** Packets that touch a span give way to silent ones that last as long. */
function silencePackets(bytes: Uint8Array, spans: readonly ChunkSpan[]): Uint8Array {
  const packets: Uint8Array[] = [];
  let at = 0;
  for (const packet of splitOpusPackets(bytes)) {
    const end = at + opusPacketSamples(packet, OPUS_CLOCK);
    const isHeard = !spans.some(
      ({ from, to }) => from * OPUS_CLOCK < end && to * OPUS_CLOCK > at && end > at,
    );
    if (isHeard) packets.push(packet);
    else packets.push(...silentPackets(end - at));
    at = end;
  }
  return joinOpusPackets(packets);
}

function silentPackets(samples: number): Uint8Array[] {
  const packets: Uint8Array[] = [];
  let left = samples;
  for (const { toc, length } of SILENT_TOCS) {
    for (; left >= length; left -= length) packets.push(Uint8Array.of(toc, 0xff, 0xfe));
  }
  return packets;
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
