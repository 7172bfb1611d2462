import type { Sentence } from "./spoken-text.ts";

const DAMPING = 0.85;
const ROUNDS = 30;
/** Sentences with a lower similarity count as unrelated. */
const THRESHOLD = 0.1;
/** A term in more sentences than this says little and costs much. */
const MAX_POSTINGS = 200;
/** Sentences compared with all others in one step. */
const STEP = 50;

/** A sentence as a vector of TF-IDF weights with length 1. */
export type TermVector = ReadonlyMap<string, number>;

export interface Centrality {
  vectors: readonly TermVector[];
  /** Score of each sentence, 0..1. */
  scores: readonly number[];
}

interface Edge {
  to: number;
  weight: number;
}

/**
 * Ranks sentences by how well they represent the others (TextRank over TF-IDF cosines). Yields the
 * share of the work that is done.
 */
export function* rankSentences(sentences: readonly Sentence[]): Generator<number, Centrality> {
  const vectors = toVectors(sentences);
  const postings = toPostings(vectors);
  const edges: Edge[][] = [];
  for (const [index, vector] of vectors.entries()) {
    edges.push(neighboursOf(index, vector, postings));
    if (index % STEP === STEP - 1) yield (index / vectors.length) * 0.8;
  }
  const scores = yield* iterate(edges);
  const highest = Math.max(...scores, Number.MIN_VALUE);
  return { vectors, scores: scores.map((score) => score / highest) };
}

/** Cosine of two vectors of length 1. */
export function similarity(a: TermVector, b: TermVector): number {
  const [small, large] = a.size <= b.size ? [a, b] : [b, a];
  let sum = 0;
  for (const [term, weight] of small) sum += weight * (large.get(term) ?? 0);
  return sum;
}

function toVectors(sentences: readonly Sentence[]): TermVector[] {
  const frequency = new Map<string, number>();
  for (const { terms } of sentences) {
    for (const term of new Set(terms)) frequency.set(term, (frequency.get(term) ?? 0) + 1);
  }
  return sentences.map(({ terms }) => {
    const vector = new Map<string, number>();
    for (const term of terms) {
      const rarity = Math.log(1 + sentences.length / (frequency.get(term) ?? 1));
      vector.set(term, (vector.get(term) ?? 0) + rarity);
    }
    const length = Math.hypot(...vector.values()) || 1;
    for (const [term, weight] of vector) vector.set(term, weight / length);
    return vector;
  });
}

function toPostings(vectors: readonly TermVector[]): Map<string, Edge[]> {
  const postings = new Map<string, Edge[]>();
  for (const [to, vector] of vectors.entries()) {
    for (const [term, weight] of vector) {
      const list = postings.get(term);
      if (list === undefined) postings.set(term, [{ to, weight }]);
      else list.push({ to, weight });
    }
  }
  for (const [term, list] of postings) if (list.length > MAX_POSTINGS) postings.delete(term);
  return postings;
}

function neighboursOf(
  index: number,
  vector: TermVector,
  postings: ReadonlyMap<string, readonly Edge[]>,
): Edge[] {
  const sums = new Map<number, number>();
  for (const [term, weight] of vector) {
    for (const other of postings.get(term) ?? []) {
      if (other.to === index) continue;
      sums.set(other.to, (sums.get(other.to) ?? 0) + weight * other.weight);
    }
  }
  return [...sums]
    .filter(([, weight]) => weight >= THRESHOLD)
    .map(([to, weight]) => ({ to, weight }));
}

function* iterate(edges: readonly (readonly Edge[])[]): Generator<number, number[]> {
  const totals = edges.map((list) => list.reduce((sum, { weight }) => sum + weight, 0));
  let scores = edges.map(() => 1);
  for (let round = 0; round < ROUNDS; round += 1) {
    const next = edges.map(() => 1 - DAMPING);
    for (const [from, list] of edges.entries()) {
      const share = (DAMPING * (scores[from] ?? 0)) / (totals[from] || 1);
      for (const { to, weight } of list) next[to] = (next[to] ?? 0) + share * weight;
    }
    scores = next;
    yield 0.8 + (0.2 * (round + 1)) / ROUNDS;
  }
  return scores;
}
