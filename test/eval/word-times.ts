import { alignWords } from "./word-error-rate.ts";

/** A word with its times, in seconds. */
export interface TimedWord {
  readonly word: string;
  readonly start: number;
  readonly end: number;
}

/** How far word times lie from known ones, over the words that both sides have. */
export interface TimeAgreement {
  readonly compared: number;
  /** Share of the compared words whose middles lie within the tolerance. */
  readonly within: number;
  readonly median_ms: number;
}

const TOLERANCE_S = 0.05;

/** Compares the middles of words that align as equal. undefined when there is none. */
export function compareTimes(
  expected: readonly TimedWord[],
  found: readonly TimedWord[],
): TimeAgreement | undefined {
  const names = (words: readonly TimedWord[]) => words.map(({ word }) => word);
  const distances = alignWords(names(expected), names(found))
    .flatMap((pair) => {
      if (pair.kind !== "correct") return [];
      const [a, b] = [expected[pair.reference], found[pair.hypothesis]];
      return a && b ? [Math.abs(middle(a) - middle(b))] : [];
    })
    .sort((a, b) => a - b);
  if (distances.length === 0) return undefined;
  // Times are multiples of 10 ms; the margin keeps 50 ms inside whatever its binary form.
  const within = distances.filter((distance) => distance <= TOLERANCE_S + 1e-9).length;
  return {
    compared: distances.length,
    within: within / distances.length,
    median_ms: Math.round((distances[distances.length >> 1] ?? 0) * 1000),
  };
}

function middle({ start, end }: TimedWord): number {
  return (start + end) / 2;
}
