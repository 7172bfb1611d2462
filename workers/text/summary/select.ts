import { type Centrality, similarity } from "./centrality.ts";
import type { Sentence } from "./spoken-text.ts";

/** What repeats a chosen sentence loses this share of its worth, times their similarity. */
const REDUNDANCY = 0.7;
/** A voice that was not heard yet is worth this much more. */
const NEW_SPEAKER = 0.15;
/** The beginning says what it is about, the end what came of it. */
const EDGE_BONUS = 0.15;
const EDGE_SHARE = 0.1;
/** Sentences with fewer terms say little by themselves. */
const FULL_TERMS = 6;
/** Longer ones lose in proportion: they wander. */
const LONG_WORDS = 35;

/** Up to `count` of `candidates`, the most telling and least alike, in order of time. */
export function selectSentences(
  candidates: readonly Sentence[],
  count: number,
  total: number,
  { scores, vectors }: Centrality,
): Sentence[] {
  const left = new Map<Sentence, number>();
  for (const sentence of candidates) {
    const worth = worthOf(sentence, scores[sentence.index] ?? 0, total);
    if (worth > 0) left.set(sentence, worth);
  }
  const closest = new Map<Sentence, number>();
  const heard = new Set<string>();
  const chosen: Sentence[] = [];
  while (chosen.length < count && left.size > 0) {
    const best = pickBest(left, closest, heard);
    if (best === undefined) break;
    left.delete(best);
    chosen.push(best);
    heard.add(best.speaker);
    const vector = vectors[best.index] ?? new Map();
    for (const other of left.keys()) {
      const likeness = similarity(vector, vectors[other.index] ?? new Map());
      if (likeness > (closest.get(other) ?? 0)) closest.set(other, likeness);
    }
  }
  return chosen.sort((a, b) => a.index - b.index);
}

function pickBest(
  left: ReadonlyMap<Sentence, number>,
  closest: ReadonlyMap<Sentence, number>,
  heard: ReadonlySet<string>,
): Sentence | undefined {
  let best: Sentence | undefined;
  let highest = Number.NEGATIVE_INFINITY;
  for (const [sentence, worth] of left) {
    const repeated = worth * REDUNDANCY * (closest.get(sentence) ?? 0);
    const value = worth - repeated + (heard.has(sentence.speaker) ? 0 : NEW_SPEAKER * worth);
    if (value <= highest) continue;
    best = sentence;
    highest = value;
  }
  return best;
}

function worthOf(sentence: Sentence, score: number, total: number): number {
  const distinct = new Set(sentence.terms).size;
  if (distinct === 0) return 0;
  const place = sentence.index / Math.max(1, total - 1);
  const isEdge = place <= EDGE_SHARE || place >= 1 - EDGE_SHARE;
  const fullness = Math.min(1, distinct / FULL_TERMS);
  const brevity = Math.min(1, LONG_WORDS / sentence.wordCount);
  return (score + (isEdge ? EDGE_BONUS : 0)) * fullness * brevity;
}
