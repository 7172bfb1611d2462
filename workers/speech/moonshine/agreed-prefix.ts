import { SESSION_RATE } from "../../../src/base/audio/sample-rate.ts";
import type { HeardWord } from "../../inference/heard-words.ts";
import type { ReadingAnswer } from "../../inference/inference-protocol.ts";
import { plainWord } from "./invention-guard.ts";

/**
 * Of less sound a reading agrees with nothing: the next one is often of the same mistaken opinion
 * about a beginning, and changes it when more was said.
 */
const LEAST_SOUND = 1.5 * SESSION_RATE;

/**
 * The words of an utterance under way, and the leading ones that two readings in a row agree on.
 * The next reading takes those as they are and checks the others, so that it need not find the
 * whole text anew.
 */
export class AgreedPrefix {
  #words: readonly HeardWord[] = [];
  #tokens: readonly number[] = [];
  #agreed = 0;
  /** Of what the newest reading heard. */
  #samples = 0;

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
    this.#samples = 0;
  }

  /**
   * Takes the next reading, of the same sound and more: `samples` in all. Its last two words are never agreed on: what
   * comes behind them still changes them.
   */
  push({ words, tokens }: Pick<ReadingAnswer, "words" | "tokens">, samples: number): void {
    const before = this.#samples < LEAST_SOUND ? [] : this.#words;
    const differs = words.findIndex(
      ({ text }, at) => plainWord(text) !== plainWord(before[at]?.text ?? ""),
    );
    const same = differs < 0 ? words.length : differs;
    const settled = Math.min(same, before.length - 1, words.length - 2);
    this.#agreed = Math.max(Math.min(this.#agreed, same), settled, 0);
    this.#words = words;
    this.#tokens = tokens;
    this.#samples = samples;
  }
}
