import type { InterimResultsFrame, ServerFrame } from "../wire/live-frames.ts";
import { type EncodedFrame, encodeFrame, type FrameEncoder } from "./encoded-frame.ts";

type Entry = { encoded: EncodedFrame } | { frame: ServerFrame };

/** Transient frames that one tick sends at most. */
export const MAX_TRANSIENT = 256;

function isInterim(frame: ServerFrame): frame is InterimResultsFrame {
  return frame.type === "Results" && !frame.is_final;
}

/**
 * What goes out together at the end of a tick, in order. Durable frames all
 * stay; of the interim results of a segment only the newest does, and none
 * once the segment's final is there.
 */
export class FrameBatch {
  readonly #encode: FrameEncoder;
  #entries: (Entry | undefined)[] = [];
  readonly #interims = new Map<string, { at: number; frame: InterimResultsFrame }>();
  #transient = 0;
  #hasDurable = false;

  constructor(encode: FrameEncoder = encodeFrame) {
    this.#encode = encode;
  }

  get transient(): number {
    return this.#transient;
  }

  get hasDurable(): boolean {
    return this.#hasDurable;
  }

  get empty(): boolean {
    return this.#entries.length === 0;
  }

  /** `finalSegment` names the segment whose final this is. */
  addDurable(encoded: EncodedFrame, finalSegment: string | undefined): void {
    if (finalSegment !== undefined) this.#dropInterim(finalSegment);
    this.#entries.push({ encoded });
    this.#hasDurable = true;
  }

  /** Dropped when a tick brings more than anybody could read. */
  addTransient(frame: ServerFrame): void {
    if (isInterim(frame)) {
      const known = this.#interims.get(frame.segment_id);
      if (known !== undefined && known.frame.revision > frame.revision) return;
      this.#dropInterim(frame.segment_id);
    }
    if (this.#transient >= MAX_TRANSIENT) return;
    this.#transient += 1;
    if (isInterim(frame)) {
      this.#interims.set(frame.segment_id, { at: this.#entries.length, frame });
    }
    this.#entries.push({ frame });
  }

  /** Drops the hypotheses that nobody may see any more. */
  withdraw(isWithdrawn: (frame: InterimResultsFrame) => boolean): void {
    for (const [segmentId, { frame }] of [...this.#interims]) {
      if (isWithdrawn(frame)) this.#dropInterim(segmentId);
    }
  }

  /** Everything, each frame encoded once; the batch is empty afterwards. */
  take(): EncodedFrame[] {
    const encoded: EncodedFrame[] = [];
    for (const entry of this.#entries) {
      if (entry === undefined) continue;
      encoded.push("encoded" in entry ? entry.encoded : this.#encode(entry.frame));
    }
    this.#entries = [];
    this.#interims.clear();
    this.#transient = 0;
    this.#hasDurable = false;
    return encoded;
  }

  #dropInterim(segmentId: string): void {
    const known = this.#interims.get(segmentId);
    if (known === undefined) return;
    this.#entries[known.at] = undefined;
    this.#interims.delete(segmentId);
    this.#transient -= 1;
  }
}
