import { stemmer } from "stemmer";
import { isEnglish } from "../../../src/language/english.ts";
import { dictionaryOf } from "../language/dictionaries.ts";
import { baseForm } from "./irregular-forms.ts";
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
  readonly #dictionary: ReturnType<typeof dictionaryOf>;

  /**
   * Uses Porter's stems for English, Snowball's for the languages with a dictionary, the folded
   * word for others.
   */
  constructor(language: string) {
    this.#isEnglish = isEnglish(language);
    this.#dictionary = dictionaryOf(language);
  }

  stem(word: string): string {
    let stem = this.#known.get(word);
    if (stem === undefined) {
      stem = this.#make(word);
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

  #make(word: string): string {
    const folded = foldWord(word);
    if (this.#dictionary !== undefined) {
      // Stems depend on accents, so they are taken before these are folded.
      const lower = word.normalize("NFC").toLowerCase();
      return this.#dictionary.stops.has(lower) ? "" : foldWord(this.#dictionary.stem(lower));
    }
    if (!this.#isEnglish) return folded;
    if (isStopWord(folded)) return "";
    return NUMBER_WORDS.get(folded) ?? stemmer(baseForm(folded));
  }
}
