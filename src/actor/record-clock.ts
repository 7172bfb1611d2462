import type { Clock } from "../base/clock.ts";

/**
 * The record's time between its answers, carried on by this host's monotonic clock. No host's wall
 * clock has a part in it, so that an actor's next host goes on where the one before stopped.
 */
export class RecordClock {
  readonly #clock: Pick<Clock, "monotonic">;
  /** What is added to the monotonic time. */
  #offset = Number.NEGATIVE_INFINITY;

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  /**
   * The record was asked at `askedAt` (monotonic milliseconds), has answered just now, and in
   * between its time was `now`. What is taken for its time is never ahead of it.
   */
  heard(now: number, askedAt: number): void {
    const least = now - this.#clock.monotonic();
    this.#offset = Math.min(Math.max(this.#offset, least), now - askedAt);
  }

  /** Unix milliseconds; what was heard before must come before. */
  now(): number {
    return Math.floor(this.#offset + this.#clock.monotonic());
  }
}
