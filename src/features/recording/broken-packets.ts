import {
  isOpusPacket,
  opusPacketSamples,
  splitOpusPackets,
} from "../../base/audio/opus-packets.ts";
import type { BrokenAudio } from "./upload-audio-store.ts";

/** Good audio between two broken packets that is shorter than this is told as broken with them. */
const JOINED_SECONDS = 0.2;
/** More are told as one. */
const MOST_SPANS = 64;

/**
 * What of a chunk of length-prefixed packets no decoder can read; undefined when it all can be.
 * A chunk of which more than half is broken fails.
 *
 * @param rate in which its frames are counted
 */
export function brokenPackets(data: Uint8Array, rate: number): BrokenAudio | undefined {
  const packets = splitOpusPackets(data);
  const spans: BrokenAudio["spans"] = [];
  let at = 0;
  let broken = 0;
  let count = 0;
  for (const packet of packets) {
    const length = opusPacketSamples(packet, rate);
    if (!isOpusPacket(packet)) {
      count += 1;
      broken += length;
      addSpan(spans, { start: at, length }, JOINED_SECONDS * rate);
    }
    at += length;
  }
  if (count === 0) return undefined;
  if (2 * broken <= at) return { spans };
  const some = count === packets.length ? "None" : `Only ${packets.length - count}`;
  return {
    spans,
    unreadable: `${some} of the chunk's ${packets.length} packets can be decoded: it holds no Opus audio.`,
  };
}

function addSpan(spans: BrokenAudio["spans"], span: BrokenAudio["spans"][number], gap: number) {
  const last = spans.at(-1);
  const isNear = last !== undefined && span.start - (last.start + last.length) < gap;
  if (last === undefined || (!isNear && spans.length < MOST_SPANS)) spans.push(span);
  else last.length = span.start + span.length - last.start;
}
