import { stemmer } from "stemmer";
import { isEnglish } from "../language/terms.ts";
import { NUMBER_WORDS, STOP_WORDS } from "./stop-words.ts";

const WORD = /[\p{L}\p{N}]+(?:['’][\p{L}]+)*/gu;

/** Lower case without accents or a possessive, so that spellings of one word meet. */
export function foldWord(word: string): string {
  return word
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/['’]s$/, "")
    .replace(/['’]/g, "");
}

/** Words of a text as written. */
export function wordsOf(text: string): string[] {
  return text.match(WORD) ?? [];
}

/** True for words that say nothing by themselves. */
export function isStopWord(folded: string): boolean {
  return STOP_WORDS.has(folded);
}

/** Turns words into what is compared; remembers, so use one for a request and drop it. */
export class Stemmer {
  readonly #known = new Map<string, string>();
  readonly #isEnglish: boolean;

  /** Porter's stems for English, the folded word for other languages. */
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

  /** Every word it has stemmed, folded. */
  knownWords(): Set<string> {
    return new Set([...this.#known.keys()].map(foldWord));
  }

  /** Stems of a text in order, stop words left out. */
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
