import { setTimeout as delay } from "node:timers/promises";

export interface BackOff {
  /** How often an operation is tried in all, the first time included. */
  readonly attempts: number;
  readonly firstMs: number;
  readonly longestMs: number;
}

/** Rides out a restart of the service: about 40 s of waiting in all. */
export const PATIENT: BackOff = { attempts: 12, firstMs: 250, longestMs: 5_000 };

/** For those who wait at a terminal: sits out a hiccup, no more than a second in all. */
export const BRISK: BackOff = { attempts: 3, firstMs: 200, longestMs: 500 };

/**
 * How long to wait before attempt `attempt` + 1 (the first is 1): exponential, half of it random
 * ("equal jitter"), so that many devices do not come back at the same moment.
 */
export function waitBefore(attempt: number, backOff: BackOff, random = Math.random): number {
  const ceiling = Math.min(backOff.longestMs, backOff.firstMs * 2 ** (attempt - 1));
  return ceiling / 2 + random() * (ceiling / 2);
}

/** What may be tried again, and how long the service asked to wait before that. */
export interface Retry {
  readonly retryable: boolean;
  readonly retryAfterMs?: number;
}

export interface Attempts {
  readonly backOff: BackOff;
  readonly judge: (error: unknown) => Retry;
  readonly onRetry?: (error: unknown, waitMs: number) => void;
  readonly signal?: AbortSignal;
}

/** Longest wait that a service may ask for; beyond it the failure is final. */
const MOST_RETRY_AFTER_MS = 60_000;

/**
 * Runs an operation until it succeeds, fails for good, or has used up its attempts; then throws
 * the last error. A wait the service asked for is kept even when it is longer than the back-off.
 */
export async function withRetries<T>(
  operation: (attempt: number) => Promise<T>,
  { backOff, judge, onRetry, signal }: Attempts,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await operation(attempt);
    } catch (error) {
      const { retryable, retryAfterMs = 0 } = judge(error);
      const hopeless = !retryable || retryAfterMs > MOST_RETRY_AFTER_MS;
      if (hopeless || attempt >= backOff.attempts || signal?.aborted) throw error;
      const waitMs = Math.max(retryAfterMs, waitBefore(attempt, backOff));
      onRetry?.(error, waitMs);
      await delay(waitMs, undefined, { signal });
    }
  }
}
