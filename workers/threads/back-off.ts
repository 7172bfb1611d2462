import { backOff } from "../../src/base/back-off.ts";
import type { Clock } from "../../src/base/clock.ts";

interface BackOffOptions {
  clock: Clock;
  firstMs: number;
  maxMs: number;
  /** A run at least this long makes the next failure a first one. */
  healthyMs: number;
}

/** Waits between restarts: doubling, forgotten after a healthy run. */
export class BackOff {
  readonly #options: BackOffOptions;
  #failures = 0;
  #startedAt: number;

  constructor(options: BackOffOptions) {
    this.#options = options;
    this.#startedAt = options.clock.monotonic();
  }

  started(): void {
    this.#startedAt = this.#options.clock.monotonic();
  }

  /** Milliseconds to wait after the run that has just failed. */
  next(): number {
    const { clock, firstMs, maxMs, healthyMs } = this.#options;
    if (clock.monotonic() - this.#startedAt >= healthyMs) this.#failures = 0;
    this.#failures += 1;
    return backOff(this.#failures, { firstMs, mostMs: maxMs });
  }
}
