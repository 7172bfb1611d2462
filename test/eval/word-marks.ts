import { nameOf } from "./delivery.ts";
import type { ServiceQuality } from "./word-quality.ts";

/** A figure that is held against a mark. */
export interface MarkedFigure {
  readonly figure: string;
  /** Percent, or percentage points. */
  readonly value: number;
  readonly mark: string;
  readonly met: boolean;
}

const MOST_WRONG = 6;
const MOST_APART = 1;

/**
 * Words wrong in read speech, all recordings together, for each way of delivery; and how far the
 * ways are apart. Nothing where nothing was measured.
 */
export function wordMarks(
  recordings: readonly { service: readonly Pick<ServiceQuality, "delivery" | "errors">[] }[],
): MarkedFigure[] {
  const counts = new Map<string, { wrong: number; words: number }>();
  for (const { service } of recordings) {
    for (const { delivery, errors } of service) {
      const name = nameOf(delivery);
      const count = counts.get(name) ?? { wrong: 0, words: 0 };
      count.wrong += errors.substitutions + errors.deletions + errors.insertions;
      count.words += errors.reference_words;
      counts.set(name, count);
    }
  }
  const rates = [...counts].map(([name, { wrong, words }]) => ({
    name,
    percent: (100 * wrong) / words,
  }));
  if (rates.length === 0) return [];
  const all = rates.map(({ percent }) => percent);
  const apart = Math.max(...all) - Math.min(...all);
  return [
    ...rates.map(({ name, percent }) => ({
      figure: `words wrong, read speech, ${name}`,
      value: percent,
      mark: `≤ ${MOST_WRONG} %`,
      met: percent <= MOST_WRONG,
    })),
    {
      figure: "words wrong, read speech: ways of delivery apart",
      value: apart,
      mark: `≤ ${MOST_APART} point`,
      met: apart <= MOST_APART,
    },
  ];
}
