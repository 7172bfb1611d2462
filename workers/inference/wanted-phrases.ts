import type { Tokenizer } from "./tokenizer.ts";

/**
 * Added to the logit of a phrase's first token, and of each that continues it. Little at first,
 * since many first tokens begin common words too: more of it invents phrases.
 */
const BEGIN_BONUS = 1.5;
const CONTINUE_BONUS = 6;

interface Node {
  next: Map<number, Node>;
}

/** The words and phrases of a session's vocabulary, as a tree of tokens. */
export class WantedPhrases {
  readonly #root: Node = { next: new Map() };

  constructor(phrases: readonly string[], tokenizer: Tokenizer) {
    for (const phrase of phrases) {
      const plain = phrase.trim().split(/\s+/u).join(" ");
      if (plain === "") continue;
      for (const form of new Set([plain, `${plain[0]?.toUpperCase()}${plain.slice(1)}`])) {
        // As the first words of a text have no blank before them.
        for (const text of [` ${form}`, form]) {
          this.#add(tokenizer.encode(text));
          this.#add(tokenizer.encodeGreedily(text));
        }
      }
    }
  }

  #add(tokens: readonly number[]): void {
    let node = this.#root;
    for (const token of tokens) {
      const next = node.next.get(token) ?? { next: new Map() };
      node.next.set(token, next);
      node = next;
    }
  }

  /** Follows one text. */
  follow(): PhraseFollower {
    return new PhraseFollower(this.#root);
  }
}

/** Which phrases a text may be in the middle of. */
export class PhraseFollower {
  readonly #root: Node;
  #open: readonly Node[] = [];

  constructor(root: Node) {
    this.#root = root;
  }

  /** Raises the logits of tokens that begin or continue a phrase; the row is changed in place. */
  favour(logits: Float32Array): void {
    for (const token of this.#root.next.keys()) {
      logits[token] = (logits[token] ?? 0) + BEGIN_BONUS;
    }
    const continued = new Set(this.#open.flatMap(({ next }) => [...next.keys()]));
    for (const token of continued) {
      const isFirst = this.#root.next.has(token);
      logits[token] = (logits[token] ?? 0) + CONTINUE_BONUS - (isFirst ? BEGIN_BONUS : 0);
    }
  }

  /** Takes the token that was chosen. */
  push(token: number): void {
    this.#open = [this.#root, ...this.#open].flatMap(({ next }) => {
      const found = next.get(token);
      return found === undefined ? [] : [found];
    });
  }
}
