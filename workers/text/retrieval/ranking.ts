import type { Unit } from "./document.ts";

const K1 = 1.2;
const B = 0.75;
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

/**
 * Smooths scores over neighbouring units: a weighted sum of Gaussians over the distance in words,
 * with the given widths. Units of different conversations do not affect each other.
 */
export function smooth(
  scores: readonly number[],
  units: readonly Unit[],
  widths: readonly number[],
): number[] {
  const reach = 3 * Math.max(...widths);
  return units.map((unit, at) => {
    let sum = 0;
    for (const step of [-1, 1]) {
      for (let near = step === 1 ? at : at - 1; ; near += step) {
        const other = units[near];
        if (other === undefined || other.conversation !== unit.conversation) break;
        const distance = Math.abs(other.middle - unit.middle);
        if (distance > reach) break;
        const score = scores[near] ?? 0;
        if (score > 0) sum += score * kernel(distance, widths);
      }
    }
    return sum;
  });
}

function kernel(distance: number, widths: readonly number[]): number {
  let sum = 0;
  for (const width of widths) sum += Math.exp(-0.5 * (distance / width) ** 2) / width;
  return (sum * 100) / widths.length;
}
