import { SESSION_RATE } from "../../../src/base/audio/sample-rate.ts";

/** Levels are measured over 10 ms. */
const FRAME = SESSION_RATE / 100;
/** Sound counts as speech down to this far below the loudest frame, in decibels. */
const RANGE_DB = 34;
/** Pauses up to this many frames belong to what is around them. */
const SHORT_GAP = 8;
/** Words that stand together, and islands that they may fill together. */
const MOST_WORDS = 14;
const MOST_ISLANDS = 6;
/** What it costs that a break falls where no sentence mark stands, and a mark where no break is. */
const UNMARKED_BREAK = 0.08;
const UNBROKEN_MARK = 0.02;
/** Cost of a second of pause within words that stand together, and of sound without words. */
const GAP_COST = 1;
const WORDLESS_COST = 1.5;
/** Seconds; keeps short stretches from counting too much. */
const SOFTENING = 0.15;
/** What a word takes besides its letters. */
const WORD_WEIGHT = 0.5;

const MARK = /[.,;:!?…]["')\]]*$/u;

/** A stretch of sound between two pauses, in frames. */
interface Island {
  start: number;
  end: number;
}

interface Span {
  /** Samples from the start of the sound. */
  start: number;
  end: number;
}

/**
 * When the words of an utterance were said, estimated from the sound's level alone: the words are
 * given to the stretches between pauses so that each has about as much time as it has letters and
 * breaks fall at sentence marks (dynamic programming); within a stretch by letters in proportion.
 * Spans lie inside the sound, in order, without overlap.
 */
export function wordTimes(pcm: Int16Array, words: readonly string[]): Span[] {
  if (words.length === 0) return [];
  const islands = islandsOf(pcm);
  const weights = words.map((word) => WORD_WEIGHT + (word.match(/[\p{L}\p{N}]/gu)?.length ?? 0));
  const groups = groupsOf(words, weights, islands);
  const spans = groups.flatMap(({ words: count, from, islands: taken }) =>
    spread(weights.slice(from, from + count), taken),
  );
  return spans.map(({ start, end }) => ({
    start: Math.min(pcm.length, Math.round(start * FRAME)),
    end: Math.min(pcm.length, Math.round(end * FRAME)),
  }));
}

function islandsOf(pcm: Int16Array): Island[] {
  const frames = Math.max(1, Math.floor(pcm.length / FRAME));
  const levels = Array.from({ length: frames }, (_, frame) => {
    let sum = 1;
    for (let i = frame * FRAME; i < Math.min(pcm.length, (frame + 1) * FRAME); i++) {
      sum += (pcm[i] ?? 0) ** 2;
    }
    return 10 * Math.log10(sum);
  });
  const floor = Math.max(...levels) - RANGE_DB;
  const islands: Island[] = [];
  for (const [frame, level] of levels.entries()) {
    if (level < floor) continue;
    const last = islands.at(-1);
    if (last !== undefined && frame - last.end <= SHORT_GAP) last.end = frame + 1;
    else islands.push({ start: frame, end: frame + 1 });
  }
  return islands.length > 0 ? islands : [{ start: 0, end: frames }];
}

/** Words that fill some islands together. */
interface Group {
  from: number;
  words: number;
  islands: readonly Island[];
}

interface Way {
  cost: number;
  words: number;
  islands: number;
}

/** The cheapest way to give all words to the islands, in order. */
function groupsOf(
  words: readonly string[],
  weights: readonly number[],
  islands: readonly Island[],
): Group[] {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const perWeight = seconds(islands) / total;
  // ways[w][i]: the first w words on the first i islands.
  const ways: (Way | undefined)[][] = words.map(() => []);
  ways.push([]);
  const start = ways[0];
  if (start !== undefined) start[0] = { cost: 0, words: 0, islands: 0 };
  for (let i = 0; i <= islands.length; i++) {
    for (let w = 0; w <= words.length; w++) {
      const way = ways[w]?.[i];
      if (way !== undefined) extend({ ways, words, weights, islands, perWeight }, w, i, way.cost);
    }
  }
  return ways[words.length]?.[islands.length] === undefined
    ? [{ from: 0, words: words.length, islands }]
    : backFrom(ways, words.length, islands);
}

interface Search {
  ways: (Way | undefined)[][];
  words: readonly string[];
  weights: readonly number[];
  islands: readonly Island[];
  perWeight: number;
}

function extend(search: Search, w: number, i: number, cost: number): void {
  const { ways, words, weights, islands, perWeight } = search;
  const offer = (way: Way): void => {
    const row = ways[w + way.words];
    const before = row?.[i + way.islands];
    if (row !== undefined && (before === undefined || way.cost < before.cost)) {
      row[i + way.islands] = way;
    }
  };
  const [next] = islands.slice(i, i + 1);
  if (next === undefined) return;
  offer({ cost: cost + WORDLESS_COST * seconds([next]), words: 0, islands: 1 });
  for (let span = 1; span <= Math.min(MOST_ISLANDS, islands.length - i); span++) {
    const taken = islands.slice(i, i + span);
    const time = seconds(taken);
    const gaps = GAP_COST * (secondsAcross(taken) - time);
    let weight = 0;
    let marks = 0;
    for (let count = 1; count <= Math.min(MOST_WORDS, words.length - w); count++) {
      weight += weights[w + count - 1] ?? 0;
      const expected = weight * perWeight;
      const misfit = (time - expected) ** 2 / (SOFTENING + expected);
      const isMarked = MARK.test(words[w + count - 1] ?? "");
      const ending = isMarked || w + count === words.length ? 0 : UNMARKED_BREAK;
      offer({ cost: cost + misfit + gaps + ending + marks, words: count, islands: span });
      if (isMarked) marks += UNBROKEN_MARK;
    }
  }
}

function backFrom(ways: (Way | undefined)[][], words: number, islands: readonly Island[]): Group[] {
  const groups: Group[] = [];
  let [w, i] = [words, islands.length];
  while (w > 0 || i > 0) {
    const way = ways[w]?.[i];
    if (way === undefined || way.words + way.islands === 0) break;
    w -= way.words;
    i -= way.islands;
    const taken = islands.slice(i, i + way.islands);
    if (way.words > 0) groups.unshift({ from: w, words: way.words, islands: taken });
  }
  return groups;
}

/** Shares the time within islands among words by their weights, in frames. */
function spread(weights: readonly number[], islands: readonly Island[]): Span[] {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const time = islands.reduce((sum, { start, end }) => sum + end - start, 0);
  let weight = 0;
  return weights.map((each) => {
    const start = placeAt(islands, (time * weight) / total, false);
    weight += each;
    return { start, end: Math.max(start, placeAt(islands, (time * weight) / total, true)) };
  });
}

/** Where so much time of the islands has gone by; at a border the end of one or the start of the next. */
function placeAt(islands: readonly Island[], time: number, isEnd: boolean): number {
  let left = time;
  for (const [at, { start, end }] of islands.entries()) {
    const isLast = at === islands.length - 1;
    if (left < end - start || (left === end - start && isEnd) || isLast) {
      return Math.min(end, start + left);
    }
    left -= end - start;
  }
  return 0;
}

function seconds(islands: readonly Island[]): number {
  return islands.reduce((sum, { start, end }) => sum + end - start, 0) / 100;
}

function secondsAcross(islands: readonly Island[]): number {
  return ((islands.at(-1)?.end ?? 0) - (islands[0]?.start ?? 0)) / 100;
}
