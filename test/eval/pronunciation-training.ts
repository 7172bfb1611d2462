import { letterContexts } from "../../workers/speech/pocketsphinx/letter-sounds.ts";

/** A word in small letters with the phones of its pronunciation. */
export interface Pronounced {
  word: string;
  phones: readonly string[];
}

/** Most phones of one letter: `x` has two, `u` in `music` too. */
const MOST_PHONES = 2;
const ROUNDS = 5;
/** A context that was seen less often decides nothing. */
const LEAST_SEEN = 3;
/** What stands for a letter without a sound of its own. */
const SILENT = "";

/**
 * The entries of a pronouncing dictionary that consist of plain letters, without their alternative
 * pronunciations.
 */
export function readDictionary(text: string): Pronounced[] {
  return text.split("\n").flatMap((line) => {
    const [word = "", ...phones] = line.trim().split(/\s+/);
    return /^[a-z]+$/.test(word) && phones.length > 0 ? [{ word, phones }] : [];
  });
}

/**
 * Learns the sounds of letters in their contexts: letters and phones are aligned by the most likely
 * path (a few rounds of hard expectation maximisation), then each context that decides otherwise
 * than the shorter one within it is kept (a decision tree in the order of `letterContexts`, as in
 * Daelemans and van den Bosch's IGTree). Returns a line `context sounds` for each.
 */
export function learnLetterSounds(words: readonly Pronounced[]): string {
  const aligned = align(words);
  const counts = new Map<string, Map<string, number>>();
  for (const { word, sounds } of aligned) {
    for (const [at, sound] of sounds.entries()) {
      for (const context of letterContexts(word, at)) count(counts, context, sound);
    }
  }
  const decided = new Map<string, string>();
  for (const { word } of aligned) {
    for (let at = 0; at < word.length; at++) decide(letterContexts(word, at), counts, decided);
  }
  const kept = [...decided].filter(([context, sound]) => sound !== inherited(context, decided));
  return kept
    .map(([context, sound]) => `${context} ${sound}`.trimEnd())
    .sort()
    .join("\n");
}

/** The shorter context of each one is found by cutting its longer side, as `letterContexts` grew it. */
const parents = new Map<string, string>();

function inherited(context: string, decided: ReadonlyMap<string, string>): string | undefined {
  const parent = parents.get(context);
  return parent === undefined ? undefined : (decided.get(parent) ?? inherited(parent, decided));
}

function decide(
  contexts: readonly string[],
  counts: ReadonlyMap<string, ReadonlyMap<string, number>>,
  decided: Map<string, string>,
): void {
  for (const [level, context] of contexts.entries()) {
    if (decided.has(context)) continue;
    const seen = counts.get(context) ?? new Map<string, number>();
    const total = [...seen.values()].reduce((sum, each) => sum + each, 0);
    if (level > 0 && total < LEAST_SEEN) return;
    const [best] = [...seen].sort(([, one], [, other]) => other - one);
    decided.set(context, best?.[0] ?? SILENT);
    const parent = contexts[level - 1];
    if (parent !== undefined) parents.set(context, parent);
  }
}

interface Aligned {
  word: string;
  /** For each letter its phones, joined by spaces. */
  sounds: string[];
}

function align(words: readonly Pronounced[]): Aligned[] {
  let odds = firstOdds(words);
  let aligned: Aligned[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    aligned = words.flatMap((entry) => bestPath(entry, odds));
    const counts = new Map<string, Map<string, number>>();
    for (const { word, sounds } of aligned) {
      for (const [at, sound] of sounds.entries()) count(counts, word[at] ?? "", sound);
    }
    odds = toOdds(counts);
  }
  return aligned;
}

type Odds = ReadonlyMap<string, ReadonlyMap<string, number>>;
const UNSEEN = -12;

/** How often a phone stands about where the letter stands in its word. */
function firstOdds(words: readonly Pronounced[]): Odds {
  const counts = new Map<string, Map<string, number>>();
  for (const { word, phones } of words) {
    for (const [at, letter] of [...word].entries()) {
      const middle = (at * phones.length) / word.length;
      for (const place of [Math.floor(middle) - 1, Math.floor(middle), Math.ceil(middle)]) {
        const phone = phones[place];
        if (phone !== undefined) count(counts, letter, phone);
      }
      count(counts, letter, SILENT);
    }
  }
  return toOdds(counts);
}

function toOdds(counts: ReadonlyMap<string, ReadonlyMap<string, number>>): Odds {
  return new Map(
    [...counts].map(([letter, seen]) => {
      const total = [...seen.values()].reduce((sum, each) => sum + each, 0);
      return [letter, new Map([...seen].map(([sound, n]) => [sound, Math.log(n / total)]))];
    }),
  );
}

function soundOdds(odds: Odds, letter: string, phones: readonly string[]): number {
  const known = odds.get(letter)?.get(phones.join(" "));
  if (known !== undefined) return known;
  return phones.length < MOST_PHONES ? UNSEEN : UNSEEN - 2;
}

/** The most likely split of the phones over the letters; none where there are too many phones. */
function bestPath({ word, phones }: Pronounced, odds: Odds): Aligned[] {
  const width = phones.length + 1;
  const best = new Float64Array((word.length + 1) * width).fill(Number.NEGATIVE_INFINITY);
  const taken = new Int8Array(best.length);
  best[0] = 0;
  for (const [at, letter] of [...word].entries()) {
    for (let from = 0; from < width; from++) {
      const before = best[at * width + from] ?? Number.NEGATIVE_INFINITY;
      if (before === Number.NEGATIVE_INFINITY) continue;
      for (let take = 0; take <= MOST_PHONES && from + take < width; take++) {
        const value = before + soundOdds(odds, letter, phones.slice(from, from + take));
        const cell = (at + 1) * width + from + take;
        if (value <= (best[cell] ?? 0)) continue;
        best[cell] = value;
        taken[cell] = take;
      }
    }
  }
  if (best.at(-1) === Number.NEGATIVE_INFINITY) return [];
  const sounds: string[] = [];
  let to = phones.length;
  for (let at = word.length; at > 0; at--) {
    const take = taken[at * width + to] ?? 0;
    sounds.unshift(phones.slice(to - take, to).join(" "));
    to -= take;
  }
  return [{ word, sounds }];
}

function count(counts: Map<string, Map<string, number>>, key: string, value: string): void {
  const seen = counts.get(key) ?? new Map<string, number>();
  seen.set(value, (seen.get(value) ?? 0) + 1);
  counts.set(key, seen);
}
