/** Between the beginnings of two interim readings there is at least this, milliseconds. */
const SHORTEST_MS = 500;
/** However much there is to do. */
const LONGEST_MS = 2_000;

/**
 * When the next interim reading is due: half a second after the one before and as long again as that
 * took, its wait for an inference thread included. So the pace stretches as the load grows.
 */
export class InterimPace {
  readonly #now: () => number;
  #askedAt = Number.NEGATIVE_INFINITY;
  #pace = SHORTEST_MS;

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

  answered(): void {
    const took = this.#now() - this.#askedAt;
    this.#pace = Math.min(LONGEST_MS, SHORTEST_MS + took);
  }
}
