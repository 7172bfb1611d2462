import type { Tokenizer } from "./tokenizer.ts";

interface Phrase {
  /** Finds it in a text in small letters, as words of their own. */
  pattern: RegExp;
  tokens: number;
}

/** The words and phrases of a session's vocabulary as tokens. */
export class WantedPhrases {
  /**
   * The tokens of each phrase, the blank before it among them, in each way in which the network may
   * write it; by the first token.
   */
  readonly forms: ReadonlyMap<number, readonly (readonly number[])[]>;
  readonly #phrases: readonly Phrase[];

  constructor(phrases: readonly string[], tokenizer: Tokenizer) {
    const plain = phrases.map((phrase) => phrase.trim().split(/\s+/u).join(" "));
    const forms = new Map<number, (readonly number[])[]>();
    this.#phrases = [...new Set(plain)].flatMap((text): Phrase[] => {
      if (text === "") return [];
      const shortest = tokenizer.encode(` ${text}`);
      const written = [shortest, tokenizer.encodeGreedily(` ${text}`)];
      for (const tokens of new Map(written.map((form) => [String(form), form])).values()) {
        const [first = 0] = tokens;
        forms.set(first, [...(forms.get(first) ?? []), tokens]);
      }
      return [{ pattern: asWords(text.toLowerCase()), tokens: shortest.length }];
    });
    this.forms = forms;
  }

  /** How many phrases a text has, and of how many tokens these are. */
  in(text: string): { count: number; tokens: number } {
    const found = { count: 0, tokens: 0 };
    const small = text.toLowerCase();
    for (const { pattern, tokens } of this.#phrases) {
      const count = small.split(pattern).length - 1;
      found.count += count;
      found.tokens += count * tokens;
    }
    return found;
  }
}

function asWords(text: string): RegExp {
  const escaped = text.replace(/[\\^$.*+?()[\]{}|/]/gu, "\\$&");
  return new RegExp(`(?<![\\p{L}\\p{N}])${escaped}(?![\\p{L}\\p{N}])`, "u");
}
