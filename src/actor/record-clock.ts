import type { Clock } from "../base/clock.ts";

/**
 * Estimates the record's time between its answers by this host's monotonic clock. No host's wall
 * clock is involved, so that an actor's next host continues where the one before stopped.
 */
export class RecordClock {
  readonly #clock: Pick<Clock, "monotonic">;
  /** The difference to the monotonic time, milliseconds. */
  #offset = Number.NEGATIVE_INFINITY;

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  /**
   * Sets the time from an answer of the record: it was asked at `askedAt` (monotonic milliseconds),
   * has answered just now, and its time in between was `now` (Unix milliseconds). The estimate is
   * never ahead of the record's time.
   */
  heard(now: number, askedAt: number): void {
    const least = now - this.#clock.monotonic();
    this.#offset = Math.min(Math.max(this.#offset, least), now - askedAt);
  }

  /** The record's time, Unix milliseconds. `heard` must have been called before. */
  now(): number {
    return Math.floor(this.#offset + this.#clock.monotonic());
  }
}
