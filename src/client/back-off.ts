import { delay } from "./delay.ts";

export interface BackOff {
  /** Number of attempts, the first one included. */
  readonly attempts: number;
  readonly firstMs: number;
  readonly longestMs: number;
  /**
   * Longest wait that the service may ask for, milliseconds, a minute by default; with a longer one
   * the failure is final.
   */
  readonly longestAskedMs?: number | undefined;
}

/** Survives a restart of the service: waits about 40 s in all. */
export const PATIENT: BackOff = { attempts: 12, firstMs: 250, longestMs: 5_000 };

/** For interactive use: survives a short interruption and waits less than a second in all. */
export const BRISK: BackOff = { attempts: 3, firstMs: 200, longestMs: 500 };

/**
 * The wait in milliseconds before attempt `attempt` + 1 (the first is 1): exponential, half of it
 * random ("equal jitter"), so that many devices do not retry at the same time.
 */
export function waitBefore(attempt: number, backOff: BackOff, random = Math.random): number {
  const ceiling = Math.min(backOff.longestMs, backOff.firstMs * 2 ** (attempt - 1));
  return ceiling / 2 + random() * (ceiling / 2);
}

/** Whether a failure may be retried, and how long the service asked to wait before that. */
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

const LONGEST_ASKED_MS = 60_000;

/** True when the service asks for a longer wait than is made. */
export function asksTooMuch(retryAfterMs: number, backOff: BackOff): boolean {
  return retryAfterMs > (backOff.longestAskedMs ?? LONGEST_ASKED_MS);
}

/**
 * Runs an operation until it succeeds, fails permanently, or has used up its attempts; then throws
 * the last error. A wait that the service asked for is kept even if it is longer than the back-off.
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
      const hopeless = !retryable || asksTooMuch(retryAfterMs, backOff);
      if (hopeless || attempt >= backOff.attempts || signal?.aborted) throw error;
      const waitMs = Math.max(retryAfterMs, waitBefore(attempt, backOff));
      onRetry?.(error, waitMs);
      await delay(waitMs, signal);
    }
  }
}
