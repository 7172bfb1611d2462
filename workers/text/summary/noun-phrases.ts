import { compromise } from "../../../src/language/compromise.ts";
import { isProperName } from "../../../src/language/proper-names.ts";
import { isStopWord, toWords } from "../language/terms.ts";
import type { Sentence } from "./spoken-text.ts";

const MAX_PHRASE_WORDS = 4;
const MAX_READ_WORDS = 60;
const MIN_LETTERS = 3;
/** Phrases of only these terms are times, not topics. */
const TIME_TERMS: ReadonlySet<string> = new Set(
  toWords(
    `monday tuesday wednesday thursday friday saturday sunday january february march april june july
    august september october november december today tomorrow yesterday tonight morning afternoon
    evening night noon minute hour day week month quarter year time moment beginning end start
    middle first second third last next one two three four five six seven eight nine ten`,
  ),
);
/** Nouns that stand for others, praise and sounds: nobody would call a topic so. */
const EMPTY_TERMS: ReadonlySet<string> = new Set(
  toWords(
    `aspect bit bits bunch case confident couple course discussion example fact good great guess guy
    guys idea issue kay kind look lot lots many matter mean meeting mm'kay name nice part people person
    point possible question reason respect run sense set side sorry sort stuff talk term thank thing
    thought try way ways zzz`,
  ),
);

/** A noun phrase, with its words without stop words, in the singular. */
export interface NounPhrase {
  phrase: string;
  terms: readonly string[];
}

/** The noun phrases of a sentence that could name a topic. English; takes milliseconds. */
export function nounPhrasesOf({ clear }: Pick<Sentence, "clear">): NounPhrase[] {
  const words = clear.split(/\s+/u).slice(0, MAX_READ_WORDS).join(" ");
  const phrases: string[] = compromise()(words).nouns().out("array");
  return phrases.flatMap((written) => {
    const phrase = trimPhrase(written, words);
    const terms = toSingulars(phrase);
    return phrase.length < MIN_LETTERS || terms.every(namesNothing) ? [] : [{ phrase, terms }];
  });
}

/**
 * Without articles, pronouns and other words without meaning at both ends. Capitals stay but for that with which
 * a sentence begins.
 */
function trimPhrase(phrase: string, sentence: string): string {
  const written = phrase.match(/[\p{L}\p{N}]+(?:['’][\p{L}]+)*/gu) ?? [];
  const isStop = (word: string | undefined): boolean => isStopWord(toWords(word ?? "x")[0] ?? "x");
  while (written.length > 0 && isStop(written[0])) written.shift();
  while (written.length > 0 && isStop(written.at(-1))) written.pop();
  if (written.length > MAX_PHRASE_WORDS || written.some(isPiece)) return "";
  const [first = "", ...rest] = written;
  const isFirst = first !== "" && sentence.startsWith(first) && !/^.\p{Lu}/u.test(first);
  const kept = isFirst && !isProperName(first.toLowerCase()) ? first.toLowerCase() : first;
  return [kept, ...rest].join(" ").replaceAll("’", "'");
}

/** True for what is left of a word that was not finished. */
function isPiece(word: string): boolean {
  return /^\p{Ll}$/u.test(word) && word !== "a";
}

function namesNothing(term: string): boolean {
  return /^\d+(?:st|nd|rd|th)?$/u.test(term) || TIME_TERMS.has(term) || EMPTY_TERMS.has(term);
}

/** Singular forms; unlike stems they keep similar words apart: "news" and "new". */
export function toSingulars(text: string): string[] {
  return toWords(text)
    .filter((word) => !isStopWord(word))
    .map(toSingular);
}

function toSingular(word: string): string {
  if (word.length <= MIN_LETTERS + 1 || /(?:ss|us|is)$/u.test(word)) return word;
  return word.replace(/ies$/u, "y").replace(/(?<=x|ch|sh|ss)es$|s$/u, "");
}
