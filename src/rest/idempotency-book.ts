/** What the book says to a request that carries an Idempotency-Key. */
export type IdempotencyVerdict =
  /** Nobody has this key: the caller runs the request as `attempt`. */
  | { kind: "run"; attempt: string }
  | { kind: "running" }
  | { kind: "mismatch" }
  /** The sealed first answer. */
  | { kind: "answered"; answer: Buffer };

/** How a request is known: neither member shows what was sent. */
export interface IdempotencyEntry {
  keyHash: Buffer;
  fingerprint: Buffer;
}

/**
 * Port: first answers by key. Of requests that begin at once with one key, one
 * alone is told to run. A run that neither finishes nor is released counts as
 * dead after 60 s; answers are kept for 24 h.
 */
export interface IdempotencyBook {
  begin(entry: IdempotencyEntry): Promise<IdempotencyVerdict>;
  /**
   * Keeps the sealed answer, unless the attempt is no longer the one that runs
   * or its session was deleted meanwhile.
   */
  finish(
    keyHash: Buffer,
    attempt: string,
    answer: Buffer,
    sessionId: string | undefined,
  ): Promise<void>;
  /** Frees the key: the attempt came to nothing. */
  release(keyHash: Buffer, attempt: string): Promise<void>;
}
