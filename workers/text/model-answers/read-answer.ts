import { CITED_LINES, citedLines } from "../language/cited-lines.ts";

/** A sentence of a model's answer, of which nothing is proved. */
interface CitingSentence {
  text: string;
  /** Numbers of lines, which need not exist. */
  cites: number[];
}

const MOST_SENTENCES = 20;
const NONE = /^\W*NONE\W*$/iu;
/** What comes before citations, and these. */
const CITING = new RegExp(`([^[\\]\\n]+)(${CITED_LINES})`, "giu");
/** What lists and quotations begin with, and the end of the sentence before. */
const BEGINNING = /^(?:[\s>*•.,;:)-]|\d+[.)]\s)+/u;

/**
 * The sentences of an answer that a model wrote, each with the lines that it cites; the last ones of several
 * that share their citations have them all. Those without any have none. Empty when it found nothing;
 * undefined when it is no such answer.
 */
export function readSentences(answer: string): CitingSentence[] | undefined {
  if (NONE.test(answer)) return [];
  const sentences: CitingSentence[] = [];
  let end = 0;
  for (const match of answer.matchAll(CITING)) {
    const [whole, text = "", numbers = ""] = match;
    sentences.push(...uncited(answer.slice(end, match.index)));
    const cites = citedLines(numbers);
    sentences.push(...split(text).map((each) => ({ text: each, cites })));
    end = match.index + whole.length;
  }
  if (end === 0) return undefined;
  sentences.push(...uncited(answer.slice(end)));
  return sentences.slice(0, MOST_SENTENCES);
}

function uncited(text: string): CitingSentence[] {
  return split(text).map((each) => ({ text: each, cites: [] }));
}

/** Sentences with a mark at their end. */
function split(text: string): string[] {
  return text
    .split(/(?<=[.!?])\s+(?=\p{Lu})|\n/u)
    .map((each) => each.replace(BEGINNING, "").trim())
    .filter((each) => /\p{L}/u.test(each))
    .map((each) => (/[.!?]["”’]?$/u.test(each) ? each : `${each}.`));
}
