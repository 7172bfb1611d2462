import { reasonOf, Unreachable } from "../../client/errors.ts";

/**
 * One row about a failure after which the same is tried again, `waitMs` milliseconds later. Without
 * the address that gave no answer: with its ids the row is longer than a terminal is wide.
 */
export function retryNotice(error: unknown, waitMs: number): string {
  const reason = error instanceof Unreachable ? `no answer${error.how}` : reasonOf(error);
  return `${reason}; trying again in ${(waitMs / 1_000).toFixed(1)} s`;
}
