import { SESSION_RATE } from "../../../src/base/audio/sample-rate.ts";
import type { HeardWord } from "../../inference/heard-words.ts";
import type { RecognitionAnswer } from "../../inference/inference-protocol.ts";
import { plainWord } from "./invention-guard.ts";

/**
 * Of less sound a reading agrees with nothing: the next one is often of the same mistaken opinion
 * about a beginning, and changes it when more was said.
 */
const LEAST_SOUND = 1.5 * SESSION_RATE;
/** Two readings that agree lie at least so much sound apart: with less of it the second hears hardly more. */
const LEAST_APART = 0.5 * SESSION_RATE;

const NOTHING = { words: [], samples: 0 };

/**
 * The words of an utterance under way, and the leading ones that two readings in a row agree on.
 * The next reading takes those as they are and checks the others, so that it need not find the
 * whole text anew.
 */
export class AgreedPrefix {
  #words: readonly HeardWord[] = [];
  #tokens: readonly number[] = [];
  #agreed = 0;
  /** What the next readings are compared with: an earlier one, and how much sound it had. */
  #compared: { words: readonly HeardWord[]; samples: number } = NOTHING;

  /** The newest reading's words. */
  get words(): readonly HeardWord[] {
    return this.#words;
  }

  /** Number of words that are agreed on. */
  get agreed(): number {
    return this.#agreed;
  }

  /** The tokens of the agreed words: the next reading takes them unless others are far likelier. */
  get tokens(): readonly number[] {
    const agreed = this.#words.slice(0, this.#agreed);
    return this.#tokens.slice(
      0,
      agreed.reduce((sum, { tokens }) => sum + tokens, 0),
    );
  }

  /** The tokens behind them. */
  get draft(): readonly number[] {
    return this.#tokens.slice(this.tokens.length);
  }

  restart(): void {
    this.#words = [];
    this.#tokens = [];
    this.#agreed = 0;
    this.#compared = NOTHING;
  }

  /**
   * Takes the next reading, of the same sound and more: `samples` in all. Its last two words are never agreed on: what
   * comes behind them still changes them.
   */
  push({ words, tokens }: Pick<RecognitionAnswer, "words" | "tokens">, samples: number): void {
    this.#agreed = Math.min(this.#agreed, sameWords(words, this.#words));
    const { words: before, samples: heard } = this.#compared;
    if (samples - heard >= LEAST_APART) {
      const same = heard < LEAST_SOUND ? 0 : sameWords(words, before);
      this.#agreed = Math.max(this.#agreed, Math.min(same, before.length - 1, words.length - 2));
      this.#compared = { words, samples };
    }
    this.#words = words;
    this.#tokens = tokens;
  }
}

/** How many leading words are the same, but for capitals and marks. */
function sameWords(one: readonly HeardWord[], other: readonly HeardWord[]): number {
  const differs = one.findIndex(
    ({ text }, at) => plainWord(text) !== plainWord(other[at]?.text ?? ""),
  );
  return differs < 0 ? one.length : differs;
}
