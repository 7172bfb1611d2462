import { stemmer } from "stemmer";

/** ROUGE F1 scores, 0..1 (Lin 2004), on stems. */
export interface Rouge {
  one: number;
  two: number;
  /** Summary level: union of the longest common subsequences of the sentences. */
  longest: number;
}

function tokens(text: string): string[] {
  const words = text.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  return words.map((word) => (word.length > 3 ? stemmer(word) : word));
}

function countOf(items: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1);
  return counts;
}

function f1(matched: number, made: number, wanted: number): number {
  if (matched === 0) return 0;
  const precision = matched / made;
  const recall = matched / wanted;
  return (2 * precision * recall) / (precision + recall);
}

function overlap(made: readonly string[], wanted: readonly string[]): number {
  const counts = countOf(made);
  let matched = 0;
  for (const [item, count] of countOf(wanted)) matched += Math.min(count, counts.get(item) ?? 0);
  return f1(matched, made.length, wanted.length);
}

function pairs(items: readonly string[]): string[] {
  return items.slice(1).map((item, at) => `${items[at]} ${item}`);
}

/** Places in `wanted` of one longest common subsequence. */
function commonPlaces(wanted: readonly string[], made: readonly string[]): number[] {
  const width = made.length + 1;
  const table = new Uint16Array((wanted.length + 1) * width);
  const at = (row: number, column: number): number => table[row * width + column] ?? 0;
  for (let row = 1; row <= wanted.length; row += 1) {
    for (let column = 1; column <= made.length; column += 1) {
      table[row * width + column] =
        wanted[row - 1] === made[column - 1]
          ? at(row - 1, column - 1) + 1
          : Math.max(at(row - 1, column), at(row, column - 1));
    }
  }
  const places: number[] = [];
  for (let row = wanted.length, column = made.length; row > 0 && column > 0; ) {
    if (wanted[row - 1] === made[column - 1]) {
      places.push(row - 1);
      row -= 1;
      column -= 1;
    } else if (at(row - 1, column) >= at(row, column - 1)) row -= 1;
    else column -= 1;
  }
  return places;
}

function longestUnion(made: readonly string[][], wanted: readonly string[][]): number {
  const left = countOf(made.flat());
  const due = countOf(wanted.flat());
  let matched = 0;
  for (const sentence of wanted) {
    const places = new Set(made.flatMap((other) => commonPlaces(sentence, other)));
    for (const place of places) {
      const word = sentence[place] ?? "";
      if ((left.get(word) ?? 0) <= 0 || (due.get(word) ?? 0) <= 0) continue;
      left.set(word, (left.get(word) ?? 0) - 1);
      due.set(word, (due.get(word) ?? 0) - 1);
      matched += 1;
    }
  }
  return f1(matched, made.flat().length, wanted.flat().length);
}

function sentencesOf(text: string): string[][] {
  return text
    .split(/(?<=[.?!][”"’)]*)\s+|\n+/)
    .map(tokens)
    .filter((words) => words.length > 0);
}

/** Scores what was made against what was wanted. */
export function rouge(made: string, wanted: string): Rouge {
  const [a, b] = [tokens(made), tokens(wanted)];
  return {
    one: overlap(a, b),
    two: overlap(pairs(a), pairs(b)),
    longest: longestUnion(sentencesOf(made), sentencesOf(wanted)),
  };
}
