import type { EncodedFrame } from "./encoded-frame.ts";

/** What a frame takes besides its bytes, roughly. */
const FRAME_BYTES = 256;

/** The newest durable frames of a session, without gaps, bounded in number and in bytes. */
export class RecentFrames {
  readonly #capacity: number;
  readonly #room: () => number;
  #frames: EncodedFrame[] = [];
  #bytes = 0;
  #head: number | undefined;

  /** @param room bytes that they may take at this moment */
  constructor(capacity: number, room: () => number) {
    this.#capacity = capacity;
    this.#room = room;
  }

  /** The newest seq that was seen; undefined while nothing is known. */
  get head(): number | undefined {
    return this.#head;
  }

  /** How much memory the kept frames take. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Sets the newest seq without having its frame. */
  establish(seq: number): void {
    this.#head ??= seq;
  }

  /** `seq` must be the one after `head`. */
  push(seq: number, frame: EncodedFrame): void {
    this.#head = seq;
    this.#frames.push(frame);
    this.#bytes += sizeOf(frame);
    const room = this.#room();
    if (this.#frames.length <= this.#capacity * 2 && this.#bytes <= room) return;
    // More than has to go, so that not each frame moves all others.
    this.#keep(Math.min(this.#capacity, this.#frames.length), room / 2);
  }

  /** Forgets the frames, not the place: their words may have been withdrawn. */
  forget(): void {
    this.#frames = [];
    this.#bytes = 0;
  }

  /** All frames after `position`; undefined when some of them are not here. */
  since(position: number): EncodedFrame[] | undefined {
    if (this.#head === undefined) return undefined;
    const missing = this.#head - position;
    if (missing <= 0) return [];
    return missing <= this.#frames.length ? this.#frames.slice(-missing) : undefined;
  }

  /** The newest of them, as many as fit. */
  #keep(most: number, room: number): void {
    let [count, bytes] = [0, 0];
    for (const frame of this.#frames.slice(-most).reverse()) {
      if (bytes + sizeOf(frame) > room) break;
      bytes += sizeOf(frame);
      count += 1;
    }
    this.#frames = count === 0 ? [] : this.#frames.slice(-count);
    this.#bytes = bytes;
  }
}

function sizeOf({ bytes }: EncodedFrame): number {
  return bytes.byteLength + FRAME_BYTES;
}
