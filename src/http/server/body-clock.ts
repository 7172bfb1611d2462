import { AppError } from "../../base/errors.ts";

/** How fast a body must come. */
export interface BodyPace {
  /** Longest wait for the first byte, milliseconds. */
  firstByteMs: number;
  /** Longest standstill after it that a body can afford, milliseconds. */
  graceMs: number;
  /** Lowest rate beyond that, bytes a second. */
  bytesPerSecond: number;
}

export const DEFAULT_BODY_PACE: BodyPace = {
  firstByteMs: 5_000,
  graceMs: 10_000,
  // Half of what a mobile uplink at the edge of its cell brings.
  bytesPerSecond: 1_000,
};

/**
 * Tells when a body comes too slowly. Each byte buys the time that it may take, up to the grace: so
 * a body that keeps the rate is never late, and one that dribbles is, soon after its first byte.
 */
export class BodyClock {
  readonly #pace: BodyPace;
  readonly #late: (error: AppError) => void;
  readonly #end: number;
  #deadline: number;
  #hasBytes = false;
  #held = false;
  #whole = false;
  #timer: NodeJS.Timeout | undefined;

  /**
   * @param totalMs longest time for the whole body
   * @param late called once, with the error to answer with, unless stopped before
   */
  constructor(pace: BodyPace, totalMs: number, late: (error: AppError) => void) {
    const now = performance.now();
    this.#pace = pace;
    this.#late = late;
    this.#end = now + totalMs;
    this.#deadline = now + pace.firstByteMs;
    this.#arm(now);
  }

  /** Counts bytes that have come. */
  came(bytes: number): void {
    if (bytes === 0) return;
    const { graceMs, bytesPerSecond } = this.#pace;
    const most = performance.now() + graceMs;
    const bought = this.#deadline + (bytes / bytesPerSecond) * 1_000;
    this.#deadline = this.#hasBytes ? Math.min(most, bought) : most;
    this.#hasBytes = true;
  }

  /** We read nothing for a while: the sender is not to blame. */
  hold(): void {
    this.#held = true;
  }

  /** All has come; only the longest time counts still. */
  whole(): void {
    this.#held = true;
    this.#whole = true;
  }

  /** We read again. */
  go(): void {
    if (!this.#held || this.#whole) return;
    this.#held = false;
    this.#deadline = performance.now() + this.#pace.graceMs;
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #arm(now: number): void {
    const deadline = this.#held ? now + this.#pace.graceMs : this.#deadline;
    const wait = Math.max(1, Math.min(deadline, this.#end) - now);
    this.#timer = setTimeout(() => this.#check(), wait);
  }

  #check(): void {
    const now = performance.now();
    const isLate = now >= this.#end || (!this.#held && now >= this.#deadline);
    if (!isLate) return this.#arm(now);
    this.#late(
      new AppError("body_timeout", "The request body came too slowly; the rest is not waited for."),
    );
  }
}
