import { markUnclear } from "../../../src/wire/unclear-words.ts";
import { isStopWord, toWords } from "./terms.ts";

/** Replaces a run of unclear words in evidence; it is no word and ends no sentence. */
const UNCLEAR = "…";
/** A sentence with a larger share of unclear words is not quoted. */
const MOST_UNCLEAR = 1 / 3;

/** A sentence with its reliable parts. */
interface HeardSentence {
  /** Text for quotations, with its unclear words marked. */
  text: string;
  /** Its clear words, with `…` for the unclear ones between them: its only evidence. */
  clear: string;
  unclear: string;
  /** False where more than a third of its meaningful words are unclear. */
  isQuotable: boolean;
  wordCount: number;
}

/**
 * The sentences into which `split` cuts a text, with the words at the indexes `unclear` separated.
 * The sentences joined by a space must be the words of the text.
 */
export function hearSentences(
  text: string,
  unclear: readonly number[],
  split: (text: string) => readonly string[],
): HeardSentence[] {
  const places = new Set(unclear);
  let offset = 0;
  return split(text).map((sentence) => {
    const words = sentence.split(/\s+/u).filter((word) => word !== "");
    const own = words.flatMap((_, at) => (places.has(offset + at) ? [at] : []));
    offset += words.length;
    const wordCount = words.length;
    if (own.length === 0) {
      return { text: sentence, clear: sentence, unclear: "", isQuotable: true, wordCount };
    }
    return {
      text: markUnclear(words, own),
      clear: clearOf(words, new Set(own)),
      unclear: own.map((at) => words[at]).join(" "),
      isQuotable: isQuotable(words, new Set(own)),
      wordCount,
    };
  });
}

/** Runs of clear words without an unclear one between them. */
export function clearRuns(clear: string): string[] {
  return clear.split(UNCLEAR);
}

function clearOf(words: readonly string[], unclear: ReadonlySet<number>): string {
  return words
    .flatMap((word, at) => {
      if (!unclear.has(at)) return [word];
      return unclear.has(at - 1) ? [] : [UNCLEAR];
    })
    .join(" ");
}

function isQuotable(words: readonly string[], unclear: ReadonlySet<number>): boolean {
  const telling = words.flatMap((word, at) => (carriesMeaning(word) ? [at] : []));
  const judged = telling.length > 0 ? telling : [...words.keys()];
  return judged.filter((at) => unclear.has(at)).length <= MOST_UNCLEAR * judged.length;
}

function carriesMeaning(word: string): boolean {
  return toWords(word).some((each) => !isStopWord(each));
}
