import type { Unit } from "./document.ts";

/** Units are of nearly one length, and hardly say a word often: less of both than usual. */
const K1 = 0.8;
const B = 0.5;
/**
 * Within one conversation the distinctive words are few, so rarity has a little more weight than
 * usual.
 */
const RARITY_POWER = 1.5;

/** A word of the question with its matching stems. */
export interface Term {
  word: string;
  /** Weight 1 for the word's own stem, less for similar ones. */
  stems: ReadonlyMap<string, number>;
}

/** The rarity of each term among the texts: Robertson's inverse document frequency. */
export function rarities(
  terms: readonly Term[],
  texts: readonly { has(stem: string): boolean }[],
): number[] {
  return terms.map(({ stems }) => {
    const keys = [...stems.keys()];
    const holding = texts.filter((text) => keys.some((stem) => text.has(stem))).length;
    return Math.log(1 + (texts.length - holding + 0.5) / (holding + 0.5));
  });
}

/** Weighted number of occurrences of the term in the counts. */
export function frequency(term: Term, counts: ReadonlyMap<string, number>): number {
  let sum = 0;
  for (const [stem, weight] of term.stems) sum += weight * (counts.get(stem) ?? 0);
  return sum;
}

function rare(idf = 0): number {
  return idf ** RARITY_POWER;
}

/** Okapi BM25 score of each unit. */
export function scoreUnits(
  terms: readonly Term[],
  idf: readonly number[],
  units: readonly Unit[],
): number[] {
  const mean = units.reduce((sum, unit) => sum + unit.length, 0) / Math.max(1, units.length);
  return units.map((unit) => {
    const norm = K1 * (1 - B + (B * unit.length) / Math.max(1, mean));
    return terms.reduce((sum, term, index) => {
      const count = frequency(term, unit.counts);
      return sum + (rare(idf[index]) * count * (K1 + 1)) / (count + norm);
    }, 0);
  });
}

/** Over how many words before and after it a place tells what is spoken about, see `smooth`. */
export interface Reach {
  before: number;
  after: number;
}

/** Farther off, in multiples of the reach, a place tells nothing. */
const FARTHEST = 3;

/**
 * Smooths scores over neighbouring units: each spreads to those around it, exponentially less with the
 * distance in words, like the counts of positional language models (Lv and Zhai, SIGIR 2009). It reaches
 * farther after it than before: once a matter has been named, people go on about it without naming it again.
 * Units of different conversations do not affect each other.
 */
export function smooth(scores: readonly number[], units: readonly Unit[], reach: Reach): number[] {
  const sums = units.map(() => 0);
  for (const [from, score] of scores.entries()) {
    if (score === 0) continue;
    spread(score, from, { step: 1, words: reach.after }, units, sums);
    spread(score, from, { step: -1, words: reach.before }, units, sums);
    sums[from] = (sums[from] ?? 0) + score;
  }
  return sums;
}

/** Adds a unit's score to the sums of those after it, with a step of -1 before it. */
function spread(
  score: number,
  from: number,
  { step, words }: { step: 1 | -1; words: number },
  units: readonly Unit[],
  sums: number[],
): void {
  const source = units[from];
  for (let at = from + step; ; at += step) {
    const unit = units[at];
    if (source === undefined || unit?.conversation !== source.conversation) return;
    const distance = Math.abs(unit.middle - source.middle) / words;
    if (distance > FARTHEST) return;
    sums[at] = (sums[at] ?? 0) + score * Math.exp(-distance);
  }
}
