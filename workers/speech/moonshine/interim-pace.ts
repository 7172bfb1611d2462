/** Between the beginnings of two interim readings there is at least this, milliseconds. */
const SHORTEST_MS = 300;
/** However much there is to do. */
const LONGEST_MS = 2_000;
/** Between them there is so many times what the last one took. */
const PART = 4;

/**
 * When the next interim reading is due: so that readings take at most a quarter of the time, their
 * waits for an inference thread included. So the pace stretches as the load and the utterance grow.
 * A wait counts when the reading before waited as well: one that met a final by chance is no load.
 */
export class InterimPace {
  readonly #now: () => number;
  #askedAt = Number.NEGATIVE_INFINITY;
  #pace = SHORTEST_MS;
  #waitedMs = 0;

  /** `now` returns milliseconds of a monotonic clock. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  get isDue(): boolean {
    return this.#now() - this.#askedAt >= this.#pace;
  }

  asked(): void {
    this.#askedAt = this.#now();
  }

  /** @param workMs what of the time since `asked` went into the networks for it, milliseconds */
  answered(workMs: number): void {
    const waitedMs = Math.max(0, this.#now() - this.#askedAt - workMs);
    const took = workMs + Math.min(waitedMs, this.#waitedMs);
    this.#waitedMs = waitedMs;
    this.#pace = Math.min(LONGEST_MS, Math.max(SHORTEST_MS, PART * took));
  }
}
