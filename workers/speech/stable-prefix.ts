import type { RecognisedWord } from "./recogniser.ts";

/**
 * Numbers of consecutive hypotheses with the same word; the smallest one that has proved reliable
 * is used.
 */
const RUNS = [2, 3, 5, 8] as const;
const LONGEST_RUN = 8;
/** A word must have ended this long before the hypothesis does: 300 ms. */
const LEAST_AGE = 4_800;
/** Of a run that is not proved a word must have ended this long before: 1 s. */
const UNPROVED_AGE = 16_000;
/** Words of a sample are clear speech from this mean confidence on. */
const CLEAR = 0.75;
/** Words that a sample needs. */
const LEAST_SAMPLED = 3;
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
 * changed. Until enough words were tried, at a session's beginning, the longest one is believed where a
 * `sample` was clear speech, of words that ended a second ago, as long as none has changed. Where
 * none is reliable, no words count as stable.
 */
export class StablePrefix {
  readonly #trials: Trial[] = RUNS.map((run) => ({ run, words: [], tried: 0, changed: 0 }));
  #recent: (readonly RecognisedWord[])[] = [];
  #isClear = false;

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
    return this.#believed(words, position);
  }

  /**
   * Takes the newest hypothesis of the audio up to `position` and what a final of it would be: clear
   * speech when that is confident and has the same words but for the newest.
   */
  sample(
    hypothesis: readonly RecognisedWord[],
    final: readonly RecognisedWord[],
    position: number,
  ): void {
    const aged = hypothesis.filter(({ end }) => end <= position - LEAST_AGE);
    const isKept = aged.every(({ text }, index) => final[index]?.text === text);
    const mean = final.reduce((sum, { confidence }) => sum + confidence, 0) / final.length;
    this.#isClear = isKept && aged.length >= LEAST_SAMPLED && mean >= CLEAR;
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

  #believed(words: readonly RecognisedWord[], position: number): number {
    const proved = this.#trials.find(
      ({ tried, changed }) => tried >= LEAST_TRIED && changed <= CHANGED_SHARE * tried,
    );
    if (proved !== undefined) return agreeing(proved.words, words);
    const longest = this.#trials.at(-1);
    const isUntried = longest !== undefined && longest.tried < LEAST_TRIED && longest.changed === 0;
    if (!isUntried || !this.#isClear) return 0;
    const young = words.findIndex(({ end }) => end > position - UNPROVED_AGE);
    return agreeing(longest.words, young < 0 ? words : words.slice(0, young));
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
