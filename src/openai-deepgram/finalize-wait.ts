/** The cut and the sound are counted apart, by frames and by samples: seconds. */
const ROUNDING = 0.1;
/** Longest wait of words for the news that they were the last, milliseconds. */
const HELD_MS = 2_000;

/** A final to be sent, and whether it answers a Finalize. */
interface Answer<Final> {
  final: Final;
  isFinalized: boolean;
}

/**
 * Finds the final of a channel that answers a Finalize: the last one of the audio before it. While
 * one is asked for, a final waits until it is known whether another one follows.
 */
export class FinalizeWait<Final> {
  /** Length of the audio when it was asked for, seconds. */
  #at: number | undefined;
  #held: { final: Final; since: number } | undefined;

  /** @param at length of the audio so far, seconds */
  ask(at: number): void {
    this.#at = at;
  }

  /** Takes a final; returns those to be sent now. */
  take(final: Final, now: number): Answer<Final>[] {
    if (this.#at === undefined) return [{ final, isFinalized: false }];
    const before = this.release();
    this.#held = { final, since: now };
    return before;
  }

  /**
   * All is told of the audio up to `end`, seconds. Returns the final that answers, or `nothing` when
   * no words were left; undefined when nothing was asked for, or not yet reached.
   */
  reached(end: number): Answer<Final> | "nothing" | undefined {
    if (this.#at === undefined || end < this.#at - ROUNDING) return undefined;
    this.#at = undefined;
    const [held] = this.release();
    return held === undefined ? "nothing" : { ...held, isFinalized: true };
  }

  /** A final for which that news did not come. */
  overdue(now: number): Answer<Final>[] {
    return this.#held !== undefined && now - this.#held.since >= HELD_MS ? this.release() : [];
  }

  /** The final that waits, unmarked. */
  release(): Answer<Final>[] {
    const held = this.#held;
    this.#held = undefined;
    return held === undefined ? [] : [{ final: held.final, isFinalized: false }];
  }
}
