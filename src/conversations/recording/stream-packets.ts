import {
  isOpusPacket,
  opusPacketSamples,
  splitOpusPackets,
} from "../../base/audio/opus-packets.ts";
import { AppError } from "../../base/errors.ts";
import type { BrokenAudio } from "./chunk-store.ts";

/** One unreadable packet weighs as much as this many readable ones. */
const BROKEN_WEIGHT = 3;
/** Reached by ten unreadable packets in a row, or by more than a quarter over a longer time. */
const TOO_MANY = 10 * BROKEN_WEIGHT;

/** Watches the packets of one connection: tolerates single broken ones, but not many. */
export class PacketWatch {
  #packets = 0;
  #broken = 0;
  #weight = 0;

  /** Number of packets that no decoder can read. */
  get broken(): number {
    return this.#broken;
  }

  /** True when at least one packet could be read. */
  get isReadable(): boolean {
    return this.#packets > this.#broken;
  }

  /** Throws `not_audio` when too many of the latest packets cannot be read. */
  add(verdicts: readonly boolean[], wanted: string): void {
    for (const isPacket of verdicts) {
      this.#packets += 1;
      this.#broken += isPacket ? 0 : 1;
      this.#weight = Math.max(0, this.#weight + (isPacket ? -1 : BROKEN_WEIGHT));
    }
    if (this.#weight < TOO_MANY) return;
    throw new AppError(
      "not_audio",
      `Of ${this.#packets} messages or packets ${this.#broken} are no Opus packets (RFC 6716, 3.4). ${wanted}`,
    );
  }
}

/**
 * Good audio between two broken packets that is shorter than this is reported as broken with them.
 */
const JOINED_SECONDS = 0.2;
/** With more spans, all are reported as one. */
const MOST_SPANS = 64;

/**
 * Finds the parts of a chunk of length-prefixed packets that no decoder can read; undefined when
 * there are none. A chunk of which more than half is broken fails.
 *
 * @param rate at which its frames are counted, Hz
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
