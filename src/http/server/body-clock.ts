import { AppError } from "../../base/errors.ts";

/** How fast a body must come. */
export interface BodyPace {
  /** Longest wait for the first byte, milliseconds. */
  firstByteMs: number;
  /** Longest standstill after it that a body can afford, milliseconds. */
  graceMs: number;
  /** Lowest rate beyond that, bytes a second. */
  bytesPerSecond: number;
  /** Longest time in which we take nothing of a body, or do not finish with a whole one, ms. */
  heldMs: number;
}

export const DEFAULT_BODY_PACE: BodyPace = {
  firstByteMs: 5_000,
  graceMs: 10_000,
  // Half of what a mobile uplink at the edge of its cell brings.
  bytesPerSecond: 1_000,
  heldMs: 60_000,
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
  /** Since when we take nothing. */
  #heldAt: number | undefined;
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
    this.#heldAt ??= performance.now();
  }

  /** All has come; the sender is no longer to blame. */
  whole(): void {
    this.#heldAt = performance.now();
    this.#whole = true;
  }

  /** We read again. */
  go(): void {
    if (this.#heldAt === undefined || this.#whole) return;
    this.#heldAt = undefined;
    this.#deadline = performance.now() + this.#pace.graceMs;
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #arm(now: number): void {
    const { graceMs } = this.#pace;
    const deadline = this.#heldAt === undefined ? this.#deadline : now + graceMs;
    const wait = Math.max(1, Math.min(deadline, this.#end) - now);
    this.#timer = setTimeout(() => this.#check(), wait);
  }

  #check(): void {
    const now = performance.now();
    const held = this.#heldAt;
    if (held !== undefined && now - held >= this.#pace.heldMs) {
      this.#late(new AppError("unavailable", "The request body could not be taken in. Try again."));
    } else if (now >= this.#end || (held === undefined && now >= this.#deadline)) {
      this.#late(
        new AppError(
          "body_timeout",
          "The request body came too slowly; the rest is not waited for.",
        ),
      );
    } else this.#arm(now);
  }
}
