import type { JudgedWord } from "./judged-words.ts";

/** Words whose confidences lie in one tenth of 0..1. */
export interface ReliabilityBin {
  from: number;
  words: number;
  /** Their mean confidence, 0..1. */
  told: number;
  /** Share of them that is right, 0..1. */
  right: number;
}

const BINS = 10;

/** By tenths of confidence how many words are right; tenths without words are left out. */
export function reliability(words: readonly JudgedWord[]): ReliabilityBin[] {
  return Array.from({ length: BINS }, (_, bin) => {
    const own = words.filter(
      ({ confidence }) => Math.min(BINS - 1, Math.floor(confidence * BINS)) === bin,
    );
    const told = own.reduce((sum, { confidence }) => sum + confidence, 0) / own.length;
    const right = own.filter(({ isRight }) => isRight).length / own.length;
    return { from: bin / BINS, words: own.length, told, right };
  }).filter(({ words }) => words > 0);
}

/**
 * Expected calibration error, 0..1: how far the share of right words is from what was told of them,
 * over tenths of confidence, each by its number of words (Guo et al., 2017).
 */
export function calibrationError(words: readonly JudgedWord[]): number {
  const off = reliability(words).reduce(
    (sum, { words: count, told, right }) => sum + count * Math.abs(told - right),
    0,
  );
  return off / Math.max(1, words.length);
}

/**
 * The rising curve from told confidence to chance that fits the words best, as points of a
 * piecewise linear function (isotonic regression by pooling adjacent violators, on groups of about
 * `groupSize` words).
 */
export function calibrationCurve(
  words: readonly JudgedWord[],
  groupSize: number,
): [told: number, chance: number][] {
  const ordered = [...words].sort((one, other) => one.confidence - other.confidence);
  const pools: { told: number; right: number; words: number }[] = [];
  for (let at = 0; at < ordered.length; at += groupSize) {
    const group = ordered.slice(at, at + groupSize);
    pools.push({
      told: group.reduce((sum, { confidence }) => sum + confidence, 0),
      right: group.filter(({ isRight }) => isRight).length,
      words: group.length,
    });
    for (;;) {
      const [before, last] = [pools.at(-2), pools.at(-1)];
      if (before === undefined || last === undefined) break;
      if (before.right / before.words < last.right / last.words) break;
      pools.splice(-2, 2, {
        told: before.told + last.told,
        right: before.right + last.right,
        words: before.words + last.words,
      });
    }
  }
  return pools.map((pool) => [pool.told / pool.words, pool.right / pool.words]);
}
