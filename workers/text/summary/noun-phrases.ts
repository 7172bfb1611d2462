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
    `aspect back big bit bits bunch case conclusion confident couple course deal discussion example fact good great guess guy
    guys idea important issue kay kind look lot lots many matter mean meeting mm'kay name need nice part people
    person point possible question reason respect run sense set side sorry sort stuff talk term thank
    thing thought try way ways work y'all zzz`,
  ),
);

/** A capital at the start of a sentence is theirs. */
const TITLES: ReadonlySet<string> = new Set(
  "dr lady lord madam minister miss mr mrs ms prof sir".split(" "),
);
/** Whom everybody speaks to where one person gives the floor. */
const CHAIRS: ReadonlySet<string> = new Set(
  "chair chairman chairperson chairwoman president speaker".split(" "),
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
    const isEmpty = terms.every(namesNothing) || isAddress(terms);
    return phrase.length < MIN_LETTERS || isEmpty ? [] : [{ phrase, terms }];
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
  if (written.length > MAX_PHRASE_WORDS || written.some(isFragment)) return "";
  const [first = "", ...rest] = written;
  const lower = first.toLowerCase();
  // "Mark Randolph" is a name wherever it stands.
  const isName = /^\p{Lu}/u.test(rest[0] ?? "");
  const isFirst = first !== "" && sentence.startsWith(first) && !/^.\p{Lu}/u.test(first) && !isName;
  const kept = isFirst && !isProperName(lower) && !TITLES.has(lower) ? lower : first;
  return [kept, ...rest].join(" ").replaceAll("’", "'");
}

/** True for what is left of a word that was not finished: "t remote", "cl close". */
function isFragment(word: string, at: number, words: readonly string[]): boolean {
  if (/^\p{Ll}$/u.test(word)) return word !== "a";
  return /^[b-df-hj-np-tv-xz]{2,3}$/u.test(word) && words[at + 1]?.startsWith(word) === true;
}

/** True for "Mr Chair", whom speakers turn to and do not speak about. */
function isAddress([title = "", role = "", ...more]: readonly string[]): boolean {
  return TITLES.has(title) && CHAIRS.has(role) && more.length === 0;
}

function namesNothing(written: string): boolean {
  // The singular of "name's" is "name'".
  const term = written.replace(/'s?$/u, "");
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
