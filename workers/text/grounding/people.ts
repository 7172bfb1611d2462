import type { Token } from "./tokens.ts";
import { foldWord } from "./tokens.ts";

/** A name of a speaker in a sentence: `from` included, `to` not. */
export interface Mention {
  speaker: string;
  from: number;
  to: number;
}

/** The speakers whom a sentence names, by their whole name or by a part that only they have. */
export class People {
  /** Names as words, the longest first. */
  readonly #names: readonly { words: readonly string[]; speaker: string }[];

  constructor(speakers: readonly string[]) {
    const parts = new Map<string, Set<string>>();
    for (const speaker of new Set(speakers)) {
      const words = wordsOf(speaker);
      const number = /^s(\d+)$/u.exec(words.join(""))?.[1];
      const forms = [words, ...words.filter(isSignificant).map((word) => [word])];
      if (number !== undefined) forms.push(["speaker", number]);
      for (const form of forms) {
        const key = form.join(" ");
        parts.set(key, (parts.get(key) ?? new Set()).add(speaker));
      }
    }
    this.#names = [...parts]
      .flatMap(([key, [speaker, other]]) =>
        speaker === undefined || other !== undefined ? [] : [{ words: key.split(" "), speaker }],
      )
      .sort((a, b) => b.words.length - a.words.length);
  }

  find(tokens: readonly Token[]): Mention[] {
    const found: Mention[] = [];
    for (let at = 0; at < tokens.length; ) {
      const name = this.#nameAt(tokens, at);
      if (name !== undefined) found.push({ ...name, from: at });
      at = name?.to ?? at + 1;
    }
    return found;
  }

  #nameAt(tokens: readonly Token[], at: number): Omit<Mention, "from"> | undefined {
    for (const { words, speaker } of this.#names) {
      if (words.every((word, offset) => tokens[at + offset]?.word === word)) {
        return { speaker, to: at + words.length };
      }
    }
    return undefined;
  }
}

/** As tokens have them, a label such as "S2" in two. */
function wordsOf(name: string): string[] {
  return foldWord(name).match(/\p{N}+|\p{L}+(?:'\p{L}+)*/gu) ?? [];
}

/** A letter alone, or "user" of "User interface designer", names nobody. */
function isSignificant(word: string): boolean {
  return word.length > 2 && /^\p{L}/u.test(word);
}
