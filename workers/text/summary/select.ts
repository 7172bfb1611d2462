import { polish } from "../language/polish.ts";
import { type Centrality, similarity } from "./centrality.ts";
import { readability } from "./readability.ts";
import type { Sentence, SpokenText } from "./spoken-text.ts";

/** A sentence loses this share of its score, times its similarity to a chosen sentence. */
const REDUNDANCY = 0.7;
/** Bonus for a speaker from whom no sentence was chosen yet. */
const NEW_SPEAKER = 0.15;
/** Bonus for the beginning, which states the subject, and the end, which states the outcome. */
const EDGE_BONUS = 0.15;
const EDGE_SHARE = 0.1;
/** Sentences with fewer terms say little and lose score. */
const FULL_TERMS = 6;
/** About the running of the conversation itself, which is no content of it. */
const HOUSEKEEPING =
  /\b(?:(?:turn|hand)(?:ing)? (?:it |this )?over to|mov(?:e|ing) on|go(?:ing)? ahead|next (?:slide|speaker)|can you (?:hear|see)|plug (?:it|you|this) in|(?:make|give|do) (?:a |your |the )?(?:brief |short |quick )?presentations?|questions? (?:is|are) from|(?:address|direct) (?:your|their) (?:comments|questions?|remarks)|i(?:['’]ll| will) (?:just|start|begin|finish)|over to you|welcome to)\b/iu;
const HOUSEKEEPING_SHARE = 0.3;
/** Longer sentences lose score in proportion to their length. */
const LONG_WORDS = 35;

/**
 * Chooses up to `count` of the `candidates`, the most significant and least similar, in order of
 * time.
 */
export function selectSentences(
  candidates: readonly Sentence[],
  count: number,
  { sentences, english }: Pick<SpokenText, "sentences" | "english">,
  { scores, vectors }: Centrality,
): Sentence[] {
  const left = new Map<Sentence, number>();
  for (const sentence of candidates) {
    const worth = worthOf(sentence, scores[sentence.index] ?? 0, sentences.length);
    if (worth > 0) left.set(sentence, worth);
  }
  const closest = new Map<Sentence, number>();
  const heard = new Set<string>();
  const chosen: Sentence[] = [];
  const read = new Set<Sentence>();
  while (chosen.length < count && left.size > 0) {
    const best = pickBest(left, closest, heard);
    if (best === undefined) break;
    // Only of the few that come first is it looked at how they read, as that takes long.
    if (english && !read.has(best)) {
      read.add(best);
      left.set(best, (left.get(best) ?? 0) * readability(polish(best.text, true)));
      continue;
    }
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
  const content = HOUSEKEEPING.test(sentence.clear) ? HOUSEKEEPING_SHARE : 1;
  return (score + (isEdge ? EDGE_BONUS : 0)) * fullness * brevity * content;
}
