import { findMoments, type Moment } from "./moments.ts";
import { findQuantities, type Quantity } from "./quantities.ts";
import { type Token, toTokens } from "./tokens.ts";

/** An utterance that a sentence cites. */
export interface CitedUtterance {
  /** Name of who spoke, or the label. */
  speaker: string;
  text: string;
}

/** A cited utterance, taken apart. */
interface Passage {
  speaker: string;
  tokens: readonly Token[];
  quantities: readonly Quantity[];
  moments: readonly Moment[];
}

/** A word of the evidence. */
interface Occurrence {
  passage: number;
  at: number;
}

/** What a sentence cites, prepared for the checks. */
export class Evidence {
  readonly passages: readonly Passage[];
  /** Where each stem, and each word without one, stands. */
  readonly #places = new Map<string, Occurrence[]>();

  constructor(cited: readonly CitedUtterance[]) {
    this.passages = cited.map(({ speaker, text }) => {
      const tokens = toTokens(text);
      return {
        speaker,
        tokens,
        quantities: findQuantities(tokens),
        moments: findMoments(tokens),
      };
    });
    for (const [passage, { tokens }] of this.passages.entries()) {
      for (const [at, token] of tokens.entries()) this.#note(keyOf(token), { passage, at });
    }
  }

  /** Where a word, or one of the same stem, stands. */
  find(token: Token): readonly Occurrence[] {
    return this.#places.get(keyOf(token)) ?? [];
  }

  /** True where one of the words stands within so many words of the place. */
  isNear(words: readonly Token[], { passage, at }: Occurrence, reach: number): boolean {
    return words.some((word) =>
      this.find(word).some(
        (place) => place.passage === passage && place.at !== at && Math.abs(place.at - at) <= reach,
      ),
    );
  }

  /** Those of the words that were said at all. */
  known(words: readonly Token[]): Token[] {
    return words.filter((word) => this.find(word).length > 0);
  }

  /** True where at least half of the words stand within so many words of the place. */
  isBeside(words: readonly Token[], place: Occurrence, reach: number): boolean {
    const beside = words.filter((word) => this.isNear([word], place, reach));
    return beside.length * 2 >= words.length;
  }

  #note(key: string, occurrence: Occurrence): void {
    const known = this.#places.get(key);
    if (known === undefined) this.#places.set(key, [occurrence]);
    else known.push(occurrence);
  }
}

function keyOf({ stem, word }: Token): string {
  return stem === "" ? ` ${word}` : stem;
}

/** The words with a meaning of their own within so many words of a place. */
export function significantTokens(tokens: readonly Token[], from: number, to: number): Token[] {
  return tokens.slice(Math.max(0, from), to).filter(({ stem }) => stem !== "");
}
