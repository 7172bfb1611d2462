import { z } from "zod";
import { compromise } from "./compromise.ts";

/** Numbers below are written as words, unless they have a fraction. */
const FIRST_IN_DIGITS = 10;

const numberFound = z.object({
  number: z.object({ num: z.number().nullable() }),
  offset: z.object({ start: z.number(), length: z.number() }),
});

interface NumberFound {
  value: number;
  from: number;
  /** Exclusive. */
  to: number;
}

/**
 * Words without punctuation with their numbers in digits: `twenty five people` is `25`, ``, `people`, so
 * that places stay. Cardinals from 10 on, fractions and years; ordinals and small numbers stay words, as
 * does "one". English only.
 */
export function toDigits(words: readonly string[]): string[] {
  const written = [...words];
  for (const { value, from, to } of joinYears(findNumbers(words), words)) {
    if (Math.abs(value) < FIRST_IN_DIGITS && Number.isInteger(value)) continue;
    const start =
      words[from - 1] === "a" && /^(?:hundred|thousand)/.test(words[from] ?? "") ? 1 : 0;
    written.fill("", from - start, to);
    written[from - start] =
      Number.isInteger(value) && value >= 10_000 ? grouped(value) : `${value}`;
  }
  return written;
}

/** Words of which a number may consist. */
const NUMBER_WORD =
  /^(?:a|an|and|point|oh|zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty|hundreds?|thousands?|millions?|billions?|half|quarters?|[a-z]+(?:st|nd|rd|th)s?|\d[\d.,]*)$/;
/** Longer runs are cut: no number has so many words. */
const LONGEST_RUN = 24;

/** Looked for where words of numbers stand, since the library takes milliseconds for a sentence. */
function findNumbers(words: readonly string[]): NumberFound[] {
  const found: NumberFound[] = [];
  for (let from = 0; from < words.length; ) {
    let to = from;
    while (to < words.length && to - from < LONGEST_RUN && NUMBER_WORD.test(words[to] ?? ""))
      to += 1;
    if (to > from) {
      const inside = findInRun(words.slice(from, to));
      found.push(...inside.map((n) => ({ ...n, from: n.from + from, to: n.to + from })));
    }
    from = Math.max(to, from + 1);
  }
  return found;
}

function findInRun(words: readonly string[]): NumberFound[] {
  const text = words.join(" ");
  const numbers: { json(options: object): unknown } = compromise()(text).numbers();
  const found = numbers.json({ number: true, offset: true });
  // The library takes some words for two, so places are counted by letters.
  const placeOf = (letter: number): number => text.slice(0, letter).split(" ").length - 1;
  return z
    .array(numberFound)
    .parse(found)
    .flatMap(({ number: { num }, offset: { start, length } }) => {
      if (num === null) return [];
      const [from, to] = [placeOf(start), placeOf(start + length) + 1];
      return isOrdinal(words[to - 1] ?? "") ? [] : [{ value: num, from, to }];
    });
}

function isOrdinal(word: string): boolean {
  return /(?:first|second|third|th|ieth)s?$/.test(word);
}

/** `nineteen`, `ninety`, `nine` is one year. */
function joinYears(numbers: readonly NumberFound[], words: readonly string[]): NumberFound[] {
  const joined: NumberFound[] = [];
  for (const number of numbers) {
    const before = joined.at(-1);
    const follows = before?.to === number.from && words[number.from] !== "oh";
    if (before !== undefined && follows && isCentury(before.value) && isWithin(number.value)) {
      joined[joined.length - 1] = {
        value: before.value * 100 + number.value,
        from: before.from,
        to: number.to,
      };
    } else if (before !== undefined && follows && isDecade(before.value) && number.value < 10) {
      joined[joined.length - 1] = { ...before, value: before.value + number.value, to: number.to };
    } else joined.push(number);
  }
  return joined;
}

function isCentury(value: number): boolean {
  return Number.isInteger(value) && value >= 15 && value <= 20;
}

function isWithin(value: number): boolean {
  return Number.isInteger(value) && value >= 10 && value <= 99;
}

/** Of a year whose last digit comes as a number of its own. */
function isDecade(value: number): boolean {
  return value >= 1_500 && value < 2_100 && value % 10 === 0;
}

function grouped(value: number): string {
  return value.toLocaleString("en-GB");
}
