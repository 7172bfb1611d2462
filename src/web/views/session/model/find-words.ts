/** A line's words as they are shown. */
export interface ShownLine {
  readonly id: string;
  readonly words: readonly string[];
}

/** A place where the words that are looked for stand. */
export interface Hit {
  readonly lineId: string;
  /** Place of its first word in the line, from 0. */
  readonly first: number;
  /** Place of its last word. */
  readonly last: number;
}

/**
 * All places, in the order of the lines, where the text stands within a line: without regard to
 * capitals, accents and marks; its last word may be the beginning of one.
 */
export function findWords(lines: readonly ShownLine[], query: string): Hit[] {
  const wanted = query
    .split(/\s+/u)
    .map(folded)
    .filter((word) => word !== "");
  if (wanted.length === 0) return [];
  return lines.flatMap(({ id, words }) => hitsIn(id, words, wanted));
}

/** Words of questions that say nothing of what is asked about; shorter ones say nothing at all. */
const ASKING = new Set(
  "about going have mean meeting much said that their there these they this those what when where which will with would could should".split(
    " ",
  ),
);
const LEAST_LETTERS = 4;
const MOST_WORDS = 3;

/** Words of a question that were said as they are, the rarest first, at most three. */
export function saidWords(lines: readonly ShownLine[], question: string): string[] {
  const counts = new Map<string, number>();
  for (const { words } of lines) {
    for (const word of words) counts.set(folded(word), (counts.get(folded(word)) ?? 0) + 1);
  }
  const asked = new Set(question.split(/\s+/u).map(folded));
  const telling = [...asked].filter((word) => word.length >= LEAST_LETTERS && !ASKING.has(word));
  return telling
    .filter((word) => counts.has(word))
    .sort((one, other) => (counts.get(one) ?? 0) - (counts.get(other) ?? 0))
    .slice(0, MOST_WORDS);
}

function hitsIn(lineId: string, words: readonly string[], wanted: readonly string[]): Hit[] {
  // Words that are marks alone, such as a dash, stand between no others.
  const said = words
    .map((word, place) => ({ text: folded(word), place }))
    .filter(({ text }) => text !== "");
  const hits: Hit[] = [];
  for (let at = 0; at + wanted.length <= said.length; at += 1) {
    const isHere = wanted.every((word, n) =>
      fits(said[at + n]?.text ?? "", word, n, wanted.length),
    );
    const [first, last] = [said[at], said[at + wanted.length - 1]];
    if (isHere && first && last) hits.push({ lineId, first: first.place, last: last.place });
  }
  return hits;
}

/** A single word is found within others too, as "port" in "reports"; of several each is whole. */
function fits(said: string, wanted: string, n: number, count: number): boolean {
  if (count === 1) return said.includes(wanted);
  return n === count - 1 ? said.startsWith(wanted) : said === wanted;
}

/** Small letters and digits alone, without accents. */
function folded(word: string): string {
  return word
    .normalize("NFKD")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, "");
}
