import { AppError } from "../base/errors.ts";
import type { Runtime } from "../base/runtime.ts";

/** Waits between two tries, milliseconds; the last one goes on. */
const WAITS = [5, 10, 20, 50, 100, 200];
/** Far longer than any append; the caller tries again where that is of use. */
const LONGEST_MS = 10_000;

/** Says that somebody holds the row: see `whenFree`. */
export const HELD = Symbol("held");

/**
 * Tries again while a session's row is held by somebody. Between two tries nothing is held: a
 * connection that waits for a lock is one that all others lack. Rejects `unavailable` at the end.
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
