import { stemmer } from "stemmer";
import { isEnglish } from "../../../src/language/english.ts";
import { NUMBER_WORDS, STOP_WORDS } from "./stop-words.ts";

const WORD = /[\p{L}\p{N}]+(?:['’][\p{L}]+)*/gu;

/**
 * Folds a word to lower case without accents and possessive, so that its spellings become equal.
 */
export function foldWord(word: string): string {
  return word
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/['’]s$/, "")
    .replace(/['’]/g, "");
}

export function wordsOf(text: string): string[] {
  return text.match(WORD) ?? [];
}

/** True for words without meaning of their own. */
export function isStopWord(folded: string): boolean {
  return STOP_WORDS.has(folded);
}

/** Turns words into comparable terms. It caches all words, so use one per request. */
export class Stemmer {
  readonly #known = new Map<string, string>();
  readonly #isEnglish: boolean;

  /** Uses Porter's stems for English, the folded word for other languages. */
  constructor(language: string) {
    this.#isEnglish = isEnglish(language);
  }

  stem(word: string): string {
    let stem = this.#known.get(word);
    if (stem === undefined) {
      stem = this.#make(foldWord(word));
      this.#known.set(word, stem);
    }
    return stem;
  }

  /** All words it has stemmed, folded. */
  knownWords(): Set<string> {
    return new Set([...this.#known.keys()].map(foldWord));
  }

  /** The stems of a text in order, without stop words. */
  terms(text: string): string[] {
    const terms: string[] = [];
    for (const word of wordsOf(text)) {
      const stem = this.stem(word);
      if (stem !== "") terms.push(stem);
    }
    return terms;
  }

  #make(folded: string): string {
    if (!this.#isEnglish) return folded;
    if (isStopWord(folded)) return "";
    return NUMBER_WORDS.get(folded) ?? stemmer(folded);
  }
}
