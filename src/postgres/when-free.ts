import { AppError } from "../base/errors.ts";
import type { Runtime } from "../base/runtime.ts";

/** Waits between attempts, milliseconds; the last one repeats. */
const WAITS = [5, 10, 20, 50, 100, 200];
/** Time after which attempts end, far longer than any append; callers may try again. */
const LONGEST_MS = 10_000;

/** Result of an attempt that found the row locked: see `whenFree`. */
export const HELD = Symbol("held");

/**
 * Repeats an attempt while a session's row is locked by another transaction. Between attempts no
 * connection is held, because connections that wait for a lock are missing elsewhere. Rejects with
 * `unavailable` at the end.
 */
export async function whenFree<T>(
  runtime: Pick<Runtime, "monotonic" | "delay">,
  attempt: () => Promise<T | typeof HELD>,
): Promise<T> {
  const until = runtime.monotonic() + LONGEST_MS;
  for (let tries = 0; ; tries += 1) {
    const result = await attempt();
    if (result !== HELD) return result;
    if (runtime.monotonic() > until) break;
    await runtime.delay(WAITS[Math.min(tries, WAITS.length - 1)] ?? 0);
  }
  throw new AppError("unavailable", "The session is busy just now. Please try again.", {
    retryAfter: 1,
  });
}
