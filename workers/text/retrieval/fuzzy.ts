import { foldWord, type Stemmer } from "./words.ts";

const MIN_LENGTH = 4;
const MIN_LIKENESS = 0.5;
const MAX_VARIANTS = 3;

function trigrams(word: string): Set<string> {
  const padded = `  ${word} `;
  const grams = new Set<string>();
  for (let at = 0; at + 3 <= padded.length; at += 1) grams.add(padded.slice(at, at + 3));
  return grams;
}

/** Dice's coefficient of the trigrams of two words, 0..1. */
export function likeness(one: string, other: string): number {
  const a = trigrams(one);
  const b = trigrams(other);
  let shared = 0;
  for (const gram of a) if (b.has(gram)) shared += 1;
  return (2 * shared) / (a.size + b.size);
}

/** Stems of spoken words that look like `word`, which itself was never recognised; best first. */
export function similarStems(
  word: string,
  vocabulary: ReadonlySet<string>,
  stemmer: Stemmer,
): { stem: string; likeness: number }[] {
  const folded = foldWord(word);
  if (folded.length < MIN_LENGTH || /\d/.test(folded)) return [];
  const best = new Map<string, number>();
  for (const candidate of vocabulary) {
    if (candidate.length < MIN_LENGTH || Math.abs(candidate.length - folded.length) > 3) continue;
    const like = likeness(folded, candidate);
    if (like < MIN_LIKENESS) continue;
    const stem = stemmer.stem(candidate);
    if (stem !== "" && like > (best.get(stem) ?? 0)) best.set(stem, like);
  }
  return [...best]
    .map(([stem, like]) => ({ stem, likeness: like }))
    .sort((a, b) => b.likeness - a.likeness || (a.stem < b.stem ? -1 : 1))
    .slice(0, MAX_VARIANTS);
}
