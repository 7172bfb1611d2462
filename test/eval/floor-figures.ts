import type { JudgedWord } from "./judged-words.ts";

/** What a floor of confidence does to words; all shares are 0..1, of nothing 0. */
export interface FloorFigures {
  words: number;
  /** Share of all words that are wrong. */
  wrong: number;
  /** Share of the wrong words that lie below the floor. */
  caught: number;
  /** Share of the right words that lie below it. */
  lost: number;
  /** Share of the words above it that are wrong. */
  wrongAbove: number;
}

export function figuresAt(words: readonly JudgedWord[], floor: number): FloorFigures {
  const wrong = words.filter(({ isRight }) => !isRight);
  const right = words.filter(({ isRight }) => isRight);
  const below = (of: readonly JudgedWord[]) =>
    of.filter(({ confidence }) => confidence < floor).length;
  const above = words.length - below(words);
  return {
    words: words.length,
    wrong: share(wrong.length, words.length),
    caught: share(below(wrong), wrong.length),
    lost: share(below(right), right.length),
    wrongAbove: share(wrong.length - below(wrong), above),
  };
}

/**
 * Chance that a right word has more confidence than a wrong one, equal ones counted half: the area
 * under the curve of the receiver's operating characteristic. NaN where one kind is missing.
 */
export function separation(words: readonly JudgedWord[]): number {
  const ordered = [...words].sort((a, b) => a.confidence - b.confidence);
  let [inOrder, wrongBelow, right] = [0, 0, 0];
  for (let at = 0; at < ordered.length; ) {
    const { confidence } = ordered[at] ?? { confidence: 0 };
    const equal = ordered.slice(at).findIndex((word) => word.confidence !== confidence);
    const group = ordered.slice(at, equal === -1 ? undefined : at + equal);
    const rightHere = group.filter(({ isRight }) => isRight).length;
    const wrongHere = group.length - rightHere;
    inOrder += rightHere * (wrongBelow + wrongHere / 2);
    wrongBelow += wrongHere;
    right += rightHere;
    at += group.length;
  }
  return inOrder / (right * wrongBelow);
}

/** The floor at which the share of right words lost is nearest to that of wrong words kept, and their mean. */
export function equalError(words: readonly JudgedWord[]): { floor: number; rate: number } {
  let best = { floor: 0, rate: 0.5, gap: Number.POSITIVE_INFINITY };
  for (const floor of floorsOf(words)) {
    const { caught, lost } = figuresAt(words, floor);
    const gap = Math.abs(lost - (1 - caught));
    if (gap < best.gap) best = { floor, rate: (lost + 1 - caught) / 2, gap };
  }
  return { floor: best.floor, rate: best.rate };
}

/** The highest floor, in hundredths, below which lies no more than a share of the right words. */
export function highestFloor(words: readonly JudgedWord[], mostLost: number): number {
  const floors = Array.from({ length: 101 }, (_, hundredths) => hundredths / 100);
  return floors.findLast((floor) => figuresAt(words, floor).lost <= mostLost) ?? 0;
}

function floorsOf(words: readonly JudgedWord[]): number[] {
  return [...new Set(words.map(({ confidence }) => confidence))].sort((a, b) => a - b);
}

function share(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole;
}
