import type { EncodedFrame } from "./encoded-frame.ts";

/** The newest durable frames of a session, without gaps, bounded. */
export class RecentFrames {
  readonly #capacity: number;
  #frames: EncodedFrame[] = [];
  #head: number | undefined;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** The newest seq that was seen; undefined while nothing is known. */
  get head(): number | undefined {
    return this.#head;
  }

  /** Sets the newest seq without having its frame. */
  establish(seq: number): void {
    this.#head ??= seq;
  }

  /** `seq` must be the one after `head`. */
  push(seq: number, frame: EncodedFrame): void {
    this.#head = seq;
    this.#frames.push(frame);
    if (this.#frames.length > this.#capacity * 2)
      this.#frames = this.#frames.slice(-this.#capacity);
  }

  /** Forgets the frames, not the place: their words may have been withdrawn. */
  forget(): void {
    this.#frames = [];
  }

  /** All frames after `position`; undefined when some of them are not here. */
  since(position: number): EncodedFrame[] | undefined {
    if (this.#head === undefined) return undefined;
    const missing = this.#head - position;
    if (missing <= 0) return [];
    return missing <= this.#frames.length ? this.#frames.slice(-missing) : undefined;
  }
}
