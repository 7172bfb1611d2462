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
