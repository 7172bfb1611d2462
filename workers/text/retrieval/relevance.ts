import { frequency } from "./ranking.ts";
import type { Search } from "./search.ts";

/** Long questions are never met in full: their share counts for more. */
const LENGTH_POWER = 0.4;

/**
 * Below this coverage the answer is that nothing was said: chosen on meetings so that one of ten
 * questions that could be answered is refused, and nine of ten about other matters.
 */
export const ENOUGH = 0.6;

/**
 * How much of what is asked was spoken of in one place: 1 for all of it. A word weighs by its
 * rarity, and one that was never said weighs like the rarest.
 */
export function coverage(found: Search): number {
  const { terms, units, weights, scores } = found;
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  if (total === 0) return 0;
  let best = 0;
  for (const [at, { counts }] of units.entries()) {
    if ((scores[at] ?? 0) === 0) continue;
    const matched = terms.reduce(
      (sum, term, index) => sum + (weights[index] ?? 0) * Math.min(1, frequency(term, counts)),
      0,
    );
    best = Math.max(best, matched / total);
  }
  return best * terms.length ** LENGTH_POWER;
}
