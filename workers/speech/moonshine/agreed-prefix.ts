import type { HeardWord } from "../../inference/heard-words.ts";
import type { InferenceAnswer } from "../../inference/inference-protocol.ts";
import { plainWord } from "./invention-guard.ts";

/**
 * The words of an utterance under way, and the leading ones that two readings in a row agree on.
 * The next reading takes those as they are and checks the others, so that it need not find the
 * whole text anew.
 */
export class AgreedPrefix {
  #words: readonly HeardWord[] = [];
  #tokens: readonly number[] = [];
  #agreed = 0;

  /** The newest reading's words. */
  get words(): readonly HeardWord[] {
    return this.#words;
  }

  /** Number of words that are agreed on. */
  get agreed(): number {
    return this.#agreed;
  }

  /** The tokens of the agreed words. */
  get forced(): readonly number[] {
    const agreed = this.#words.slice(0, this.#agreed);
    return this.#tokens.slice(
      0,
      agreed.reduce((sum, { tokens }) => sum + tokens, 0),
    );
  }

  /** The tokens behind them. */
  get draft(): readonly number[] {
    return this.#tokens.slice(this.forced.length);
  }

  restart(): void {
    this.#words = [];
    this.#tokens = [];
    this.#agreed = 0;
  }

  /**
   * Takes the next reading, of the same sound and more. Its last two words are never agreed on: what
   * comes behind them still changes them.
   */
  push({ words, tokens }: Pick<InferenceAnswer, "words" | "tokens">): void {
    const before = this.#words;
    const differs = words.findIndex(
      ({ text }, at) => plainWord(text) !== plainWord(before[at]?.text ?? ""),
    );
    const same = differs < 0 ? words.length : differs;
    const settled = Math.min(same, before.length - 1, words.length - 2);
    this.#agreed = Math.max(Math.min(this.#agreed, same), settled, 0);
    this.#words = words;
    this.#tokens = tokens;
  }
}
