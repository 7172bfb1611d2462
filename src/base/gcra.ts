import type { Clock } from "./clock.ts";

export interface RateLimit {
  perMinute: number;
  /** Requests that may come at once after a pause. */
  burst: number;
}

export interface RateVerdict {
  allowed: boolean;
  limit: number;
  remaining: number;
  /** Seconds until the whole burst is available again. */
  resetSeconds: number;
  /** Seconds until the next request is allowed; 0 when this one was. */
  retryAfterSeconds: number;
}

/** State of one key's budget: the theoretical arrival time, 0 at first. */
export interface Pacing {
  arrival: number;
}

/** The same algorithm for a single key, whose state the caller keeps. */
export class Pace {
  readonly #interval: number;
  readonly #span: number;
  readonly #clock: Clock;

  constructor(limit: RateLimit, clock: Clock) {
    this.#interval = 60_000 / limit.perMinute;
    this.#span = this.#interval * limit.burst;
    this.#clock = clock;
  }

  /** Counts a request if it is allowed; returns whether it is. */
  take(pacing: Pacing): boolean {
    const now = this.#clock.monotonic();
    const after = Math.max(pacing.arrival, now) + this.#interval;
    if (after - now > this.#span + DRIFT) return false;
    pacing.arrival = after;
    return true;
  }
}

const MAX_KEYS = 100_000;
/** Sums of floating-point intervals drift by less than this. */
const DRIFT = 1e-6;

/**
 * Rate limits per key with the generic cell rate algorithm (ITU-T I.371), which stores one number
 * per key, the theoretical arrival time. In any time t it allows at most `burst + rate * t`. Memory
 * is bounded: beyond `maxKeys` the least recently seen keys are forgotten.
 */
export class Gcra {
  readonly #interval: number;
  readonly #limit: RateLimit;
  readonly #clock: Clock;
  readonly #maxKeys: number;
  #recent = new Map<string, Pacing>();
  /** The previous generation of keys; a key that is seen again moves to the recent one. */
  #older = new Map<string, Pacing>();

  constructor(limit: RateLimit, clock: Clock, maxKeys = MAX_KEYS) {
    this.#limit = limit;
    this.#interval = 60_000 / limit.perMinute;
    this.#clock = clock;
    this.#maxKeys = maxKeys;
  }

  get size(): number {
    return this.#recent.size + this.#older.size;
  }

  take(key: string): RateVerdict {
    const now = this.#clock.monotonic();
    const span = this.#interval * this.#limit.burst;
    const pacing = this.#pacingOf(key);
    const before = Math.max(pacing.arrival, now);
    const after = before + this.#interval;
    const allowed = after - now <= span + DRIFT;
    const arrival = allowed ? after : before;
    pacing.arrival = arrival;
    return {
      allowed,
      limit: this.#limit.burst,
      remaining: Math.max(0, Math.floor((span - (arrival - now)) / this.#interval + DRIFT)),
      resetSeconds: Math.ceil((arrival - now) / 1000),
      retryAfterSeconds: allowed ? 0 : Math.max(1, Math.ceil((after - now - span) / 1000)),
    };
  }

  /**
   * Keys are kept in two generations, so that a known key needs one look-up and no order is kept.
   */
  #pacingOf(key: string): Pacing {
    const known = this.#recent.get(key);
    if (known !== undefined) return known;
    const pacing = this.#older.get(key) ?? { arrival: 0 };
    this.#older.delete(key);
    if (this.#recent.size >= this.#maxKeys / 2) {
      this.#older = this.#recent;
      this.#recent = new Map();
    }
    this.#recent.set(key, pacing);
    return pacing;
  }
}
