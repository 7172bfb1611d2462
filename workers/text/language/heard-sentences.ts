import { markUnclear } from "../../../src/wire/unclear-words.ts";
import { isStopWord, toWords } from "./terms.ts";

/** Stands for a run of unclear words where evidence is looked for: no word, and no end of a sentence. */
const UNCLEAR = "…";
/** A sentence of which more is unclear is not quoted. */
const MOST_UNCLEAR = 1 / 3;

/** A sentence as it was said, and what of it may be relied on. */
interface HeardSentence {
  /** For quoting: its unclear words are marked. */
  text: string;
  /** Its clear words, with `…` for what lies between them: the only evidence that it gives. */
  clear: string;
  /** Its unclear words. */
  unclear: string;
  /** False where more than a third of its words that carry meaning are unclear. */
  isQuotable: boolean;
  wordCount: number;
}

/**
 * The sentences that `split` cuts a text into, with the words at the places of `unclear` set
 * apart. Joined by a space the sentences must be the words of the text again.
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

/** The clear words between which nothing unclear lies, run by run. */
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
