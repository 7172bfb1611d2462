import {
  isOpusPacket,
  opusPacketSamples,
  splitOpusPackets,
} from "../../base/audio/opus-packets.ts";
import { AppError } from "../../base/errors.ts";
import type { BrokenAudio } from "./chunk-store.ts";

/** One that cannot be read counts as much as so many that can. */
const BROKEN_WEIGHT = 3;
/** Ten in a row, or more than a quarter for long. */
const TOO_MANY = 10 * BROKEN_WEIGHT;

/** The packets of one connection: single broken ones are borne, a stream of them is not. */
export class PacketWatch {
  #packets = 0;
  #broken = 0;
  #weight = 0;

  /** How many came that no decoder can read. */
  get broken(): number {
    return this.#broken;
  }

  /** One came that a decoder can read. */
  get isReadable(): boolean {
    return this.#packets > this.#broken;
  }

  /** Throws `not_audio` when too many of those that came lately cannot be read. */
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
