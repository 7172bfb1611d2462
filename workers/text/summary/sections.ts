import { similarity, type TermVector } from "./centrality.ts";
import type { Sentence } from "./spoken-text.ts";

/** Sentences compared on each side of a possible boundary. */
const WINDOW = 8;
/** Fewest sentences of a section. */
const MIN_SECTION = 10;
const MAX_SECTIONS = 12;
/** Positions examined in one step. */
const STEP = 50;

/**
 * Cuts a conversation where its topic shifts: at the deepest valleys of the similarity between what
 * was said before and after (TextTiling). Yields the share of the work that is done.
 */
export function* cutSections(
  sentences: readonly Sentence[],
  vectors: readonly TermVector[],
): Generator<number, Sentence[][]> {
  const cuts = chooseCuts(yield* findValleys(vectors), sentences.length);
  const bounds = [0, ...cuts, sentences.length];
  return bounds
    .slice(0, -1)
    .map((from, index) => sentences.slice(from, bounds[index + 1]))
    .filter((section) => section.length > 0);
}

interface Valley {
  at: number;
  depth: number;
}

function* findValleys(vectors: readonly TermVector[]): Generator<number, Valley[]> {
  const likeness: number[] = [];
  for (let at = 1; at < vectors.length; at += 1) {
    const before = sumOf(vectors.slice(Math.max(0, at - WINDOW), at));
    const after = sumOf(vectors.slice(at, at + WINDOW));
    likeness.push(similarity(before, after));
    if (at % STEP === 0) yield at / vectors.length;
  }
  return likeness.map((value, index) => ({
    at: index + 1,
    depth: climb(likeness, index, -1) - value + (climb(likeness, index, 1) - value),
  }));
}

/** The height of the peak that is reached from `index` in one direction. */
function climb(values: readonly number[], index: number, step: 1 | -1): number {
  let highest = values[index] ?? 0;
  for (let at = index + step; (values[at] ?? -1) >= highest; at += step) {
    highest = values[at] ?? highest;
  }
  return highest;
}

function sumOf(vectors: readonly TermVector[]): TermVector {
  const sum = new Map<string, number>();
  for (const vector of vectors) {
    for (const [term, weight] of vector) sum.set(term, (sum.get(term) ?? 0) + weight);
  }
  const length = Math.hypot(...sum.values()) || 1;
  for (const [term, weight] of sum) sum.set(term, weight / length);
  return sum;
}

/**
 * The deepest valleys that are clearly deeper than usual and not too close to each other, in order.
 */
function chooseCuts(found: readonly Valley[], total: number): number[] {
  const depths = found.map(({ depth }) => depth);
  const mean = depths.reduce((sum, depth) => sum + depth, 0) / Math.max(1, depths.length);
  const spread = Math.sqrt(
    depths.reduce((sum, depth) => sum + (depth - mean) ** 2, 0) / Math.max(1, depths.length),
  );
  const cuts: number[] = [];
  for (const { at, depth } of found.toSorted((a, b) => b.depth - a.depth || a.at - b.at)) {
    if (depth <= mean + spread / 2 || cuts.length >= MAX_SECTIONS - 1) break;
    const isFar = [0, total, ...cuts].every((other) => Math.abs(other - at) >= MIN_SECTION);
    if (isFar) cuts.push(at);
  }
  return cuts.sort((a, b) => a - b);
}
