import type { RecognisedWord } from "./recogniser.ts";

/**
 * Numbers of consecutive hypotheses with the same word; the smallest one that has proved reliable
 * is used.
 */
const RUNS = [2, 3, 5, 8] as const;
const LONGEST_RUN = 8;
/** A word must have ended this long before the hypothesis does: 300 ms. */
const LEAST_AGE = 4_800;
/** A word that moved by no more than this counts as the same: 100 ms. */
const MOVED = 1_600;
/** A run is reliable after this many words, of which at most this share changed. */
const LEAST_TRIED = 15;
const CHANGED_SHARE = 0.02;
/** When this many words were counted, all counts are halved, so that old ones lose weight. */
const REMEMBERED = 400;

/** The statistics of one run length: its words of the current utterance, and its results so far. */
interface Trial {
  readonly run: number;
  words: string[];
  tried: number;
  changed: number;
}

/**
 * Predicts how many leading words of a hypothesis will very likely stay in the final.
 *
 * How long a word must have been unchanged depends on voice, channel and noise: for clear speech
 * two consecutive hypotheses are enough, over a distant microphone eight are not. So each run
 * length is tested on every utterance without being shown, and used once at most 2 % of its words
 * changed. Where none is reliable, as at a session's beginning, no words count as stable.
 */
export class StablePrefix {
  readonly #trials: Trial[] = RUNS.map((run) => ({ run, words: [], tried: 0, changed: 0 }));
  #recent: (readonly RecognisedWord[])[] = [];

  /** Drops the current utterance without learning from it. */
  restart(): void {
    this.#recent = [];
    for (const trial of this.#trials) trial.words = [];
  }

  /**
   * Takes the next hypothesis, of the audio up to `position`; returns its number of stable words.
   */
  hear(words: readonly RecognisedWord[], position: number): number {
    this.#recent.push(words);
    if (this.#recent.length > LONGEST_RUN) this.#recent.shift();
    const old = words.findIndex(({ end }) => end > position - LEAST_AGE);
    const aged = old < 0 ? words : words.slice(0, old);
    for (const trial of this.#trials) this.#extend(trial, aged);
    return this.#believed(words);
  }

  /** Compares the predictions with the final, and starts the next utterance. */
  learn(final: readonly RecognisedWord[]): void {
    for (const trial of this.#trials) {
      trial.tried += trial.words.length;
      trial.changed += trial.words.filter((text, index) => final[index]?.text !== text).length;
      if (trial.tried <= REMEMBERED) continue;
      trial.tried /= 2;
      trial.changed /= 2;
    }
    this.restart();
  }

  #extend(trial: Trial, words: readonly RecognisedWord[]): void {
    if (this.#recent.length < trial.run) return;
    const run = this.#recent.slice(-trial.run);
    const same = (word: RecognisedWord, index: number): boolean =>
      run.every((words) => isSame(words[index], word));
    const differs = words.findIndex((word, index) => !same(word, index));
    const stable = differs < 0 ? words : words.slice(0, differs);
    trial.words.push(...stable.slice(trial.words.length).map(({ text }) => text));
  }

  #believed(words: readonly RecognisedWord[]): number {
    const proved = this.#trials.find(
      ({ tried, changed }) => tried >= LEAST_TRIED && changed <= CHANGED_SHARE * tried,
    );
    if (proved !== undefined) return agreeing(proved.words, words);
    return 0;
  }
}

/** Number of leading words of the hypothesis that are the predicted ones. */
function agreeing(predicted: readonly string[], words: readonly RecognisedWord[]): number {
  const differs = predicted.findIndex((text, index) => words[index]?.text !== text);
  return differs < 0 ? predicted.length : differs;
}

function isSame(one: RecognisedWord | undefined, other: RecognisedWord): boolean {
  return one?.text === other.text && Math.abs(one.start - other.start) <= MOVED;
}
