/** `burst` attempts at once, one more after each `interval` milliseconds. */
export interface AttemptPolicy {
  burst: number;
  interval: number;
}

/**
 * Limits guessing: a generic cell rate (GCRA) per key, on record so that a
 * restart forgives nothing and all processes share it.
 */
export interface AttemptBudget {
  /** Seconds to wait when the budget is used up; undefined when the attempt was granted. */
  take(key: string, policy: AttemptPolicy): Promise<number | undefined>;
  /** Gives one attempt back. */
  refund(key: string, policy: AttemptPolicy): Promise<void>;
  /** Forgets what was taken. */
  restore(key: string): Promise<void>;
}
