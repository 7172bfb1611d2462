/** Kept before what is asked for, samples: an utterance begins a little before it is noticed. */
const KEPT = 32_000;

/** The newest sound of a session, from where it may still be wanted. */
export class RecentSound {
  #parts: Int16Array[] = [];
  #start = 0;
  #end = 0;

  /** End of what came. */
  get end(): number {
    return this.#end;
  }

  /** Takes the next sound, in order; what came already is left out. */
  push(start: number, pcm: Int16Array): void {
    const fresh = start < this.#end ? pcm.subarray(this.#end - start) : pcm;
    if (fresh.length === 0) return;
    if (start > this.#end) {
      // What is missing is in no utterance.
      this.#parts = [];
      this.#start = start;
    }
    this.#parts.push(fresh);
    this.#end = Math.max(start, this.#end) + fresh.length;
  }

  /** A copy of the sound in [from, to), as far as it is there. */
  slice(from: number, to: number): Int16Array {
    if (this.#parts.length > 1) this.#parts = [this.#joined()];
    const [whole = new Int16Array(0)] = this.#parts;
    return whole.slice(Math.max(0, from - this.#start), Math.max(0, to - this.#start));
  }

  /** Nothing before `position` is asked for any more. */
  forget(position: number): void {
    const from = Math.min(position, this.#end - KEPT);
    if (from <= this.#start + KEPT) return;
    this.#parts = [this.slice(from, this.#end)];
    this.#start = from;
  }

  #joined(): Int16Array {
    const whole = new Int16Array(this.#end - this.#start);
    let at = 0;
    for (const part of this.#parts) {
      whole.set(part, at);
      at += part.length;
    }
    return whole;
  }
}
