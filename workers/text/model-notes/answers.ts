import { CITED_LINES, citedLines } from "../language/cited-lines.ts";
import type { EntryKinds } from "./prompts.ts";

/** An entry of a model's answer, of which nothing is proved. */
export interface Entry {
  kind: string;
  text: string;
  /** Numbers of lines, which need not exist. */
  cites: number[];
  owner?: string;
  due?: string;
}

const MOST_ENTRIES = 60;
const MOST_CITES = 8;
/** Models set the word bold, and number or list their lines. */
const LINE = new RegExp(
  `^[\\s>*#\\d.)_-]*([a-z]+(?: \\d+)?)[*_]*\\s*:[\\s*_]*(.+?)[\\s*_]*(${CITED_LINES})[\\s.*_]*$`,
  "iu",
);
const NONE = /^\W*NONE\W*$/iu;

/** The entries of these kinds of an answer in JSON or in lines; undefined when it is neither. */
export function readEntries(answer: string, kinds: EntryKinds): Entry[] | undefined {
  const text = answer
    .replace(/^\s*```\w*\s*/u, "")
    .replace(/\s*```\s*$/u, "")
    .trim();
  return text.startsWith("{") ? readJson(text, Object.keys(kinds)) : readLines(text, kinds);
}

function readJson(text: string, kinds: readonly string[]): Entry[] | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const lists = value as Partial<Record<string, unknown>>;
  if (!kinds.some((kind) => Array.isArray(lists[kind]))) return undefined;
  return kinds.flatMap((kind) => {
    const list = lists[kind];
    return Array.isArray(list)
      ? list.slice(0, MOST_ENTRIES).flatMap((each) => entryOf(kind, each))
      : [];
  });
}

function entryOf(kind: string, value: unknown): Entry[] {
  if (typeof value !== "object" || value === null) return [];
  const { text, cites, owner, due } = value as Record<string, unknown>;
  if (typeof text !== "string") return [];
  const numbers = Array.isArray(cites) ? cites.filter((each) => typeof each === "number") : [];
  return [
    {
      ...{ kind, text: text.trim(), cites: numbers.slice(0, MOST_CITES) },
      ...(typeof owner === "string" && owner.trim() !== "" ? { owner: owner.trim() } : {}),
      ...(typeof due === "string" && due.trim() !== "" ? { due: due.trim() } : {}),
    },
  ];
}

function readLines(text: string, kinds: EntryKinds): Entry[] | undefined {
  if (NONE.test(text)) return [];
  const known = new Map(Object.entries(kinds).map(([kind, word]) => [word, kind]));
  const entries = text.split("\n").flatMap((line): Entry[] => {
    const [, written = "", sentence = "", numbers = ""] = LINE.exec(line) ?? [];
    const word = written.toUpperCase();
    const kind = known.get(word) ?? known.get(word.replace(/S$/u, ""));
    if (kind === undefined) return [];
    return [{ kind, text: sentence.trim(), cites: citedLines(numbers) }];
  });
  return entries.length === 0 ? undefined : entries.slice(0, MOST_ENTRIES);
}

const SHORTEST = 8;
const LONGEST = 400;
/** Addresses, markup and code: none of it is a sentence. */
const NO_SENTENCE = /:\/\/|www\.|[<>{}`|\\]|\]\(|\*\*|^\s*#|[\p{Cc}\p{Cf}\u2028\u2029]/u;

/** Whether a text is one plain sentence, as every entry has to be. */
export function isPlainSentence(text: string): boolean {
  return text.length >= SHORTEST && text.length <= LONGEST && !NO_SENTENCE.test(text);
}
