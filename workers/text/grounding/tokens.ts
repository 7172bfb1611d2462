import { stemmer } from "stemmer";
import { isStopWord } from "../language/terms.ts";

/** A word of a text, as far as it is compared. */
export interface Token {
  /** As it is written, without what a contraction adds. */
  written: string;
  /** In small letters, without accents. */
  word: string;
  /** Empty for words without meaning of their own. */
  stem: string;
  /** Grows where a clause ends. */
  clause: number;
  /** True for "not", the end of "don't", and words such as "never" and "nobody". */
  negates: boolean;
  /** True when a mark or the end of the text comes after it. */
  isLast: boolean;
}

const PART = /\p{N}+(?:[.,:]\p{N}+)*|\p{L}+(?:['’]\p{L}+)*|%|[.?!;,:…—–]/gu;
const MARK = /^[.?!;,:…—–]$/u;
const NEGATIONS = new Set("not never no none nobody nothing neither nor without hardly".split(" "));
/** After these a clause with another statement begins. */
const LINKS = new Set("but because although though whereas while unless except".split(" "));
const IRREGULAR = new Map([
  ["can't", "can"],
  ["cannot", "can"],
  ["won't", "will"],
  ["shan't", "shall"],
  ["ain't", "is"],
]);
const PRONOUN = new Set("i you he she it we they there that this".split(" "));

/** Words of little meaning that carry a statement all the same: "I don't know". */
const PREDICATES = new Set("know want see get go went let sure like right doing".split(" "));

/** The words of an English text, contractions taken apart: "don't" gives "do" and a negation. */
export function toTokens(text: string): Token[] {
  const tokens: Token[] = [];
  let clause = 0;
  for (const [part] of text.matchAll(PART)) {
    if (MARK.test(part)) {
      const last = tokens.at(-1);
      if (last !== undefined) last.isLast = true;
      clause += 1;
      continue;
    }
    const word = foldWord(part);
    if (LINKS.has(word)) clause += 1;
    for (const each of takeApart(part, word)) {
      tokens.push({ ...each, stem: stemOf(each.word), clause, negates: false, isLast: false });
    }
  }
  const last = tokens.at(-1);
  if (last !== undefined) last.isLast = true;
  for (const [at, token] of tokens.entries()) token.negates = isNegation(tokens, at);
  return tokens;
}

export function foldWord(word: string): string {
  return word.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().replaceAll("’", "'");
}

function takeApart(written: string, word: string): { written: string; word: string }[] {
  const negated = IRREGULAR.get(word) ?? (word.endsWith("n't") ? word.slice(0, -3) : undefined);
  if (negated !== undefined) return [plain(negated), plain("not")];
  const bare = word.replace(/'(?:s|ll|re|ve|d|m)$/u, "");
  return [{ written: written.slice(0, bare.length), word: bare }];
}

const plain = (word: string) => ({ written: word, word });

const stems = new Map<string, string>();
/** More words than a language's everyday ones are not kept. */
const MAX_STEMS = 20_000;

function stemOf(word: string): string {
  if ((isStopWord(word) && !PREDICATES.has(word)) || (word.length < 2 && !/\p{N}/u.test(word)))
    return "";
  let stem = stems.get(word);
  if (stem === undefined) {
    stem = stemmer(word);
    if (stems.size >= MAX_STEMS) stems.clear();
    stems.set(word, stem);
  }
  return stem;
}

/** False for the "no" of an answer, and for questions and idioms that deny nothing. */
function isNegation(tokens: readonly Token[], at: number): boolean {
  const token = tokens[at];
  if (token === undefined || !NEGATIONS.has(token.word)) return false;
  const before = tokens[at - 1]?.word ?? "";
  const after = tokens[at + 1]?.word ?? "";
  if (token.word === "no") return !token.isLast && after !== "no" && before !== "no";
  if (token.word !== "not") return true;
  // "Isn't it?", "why not?", "whether or not", "not only".
  const isInverted =
    token.written === "not" && PRONOUN.has(after) && tokens[at + 1]?.isLast === true;
  return !isInverted && before !== "why" && before !== "or" && after !== "only";
}
