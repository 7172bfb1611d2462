import type { RecognisedWord } from "./recogniser.ts";

/** Hypotheses in a row with the same word, of which the least that has proved itself is used. */
const RUNS = [2, 3, 5, 8] as const;
const LONGEST_RUN = 8;
/** A word must have ended this long before the hypothesis does: 300 ms. */
const LEAST_AGE = 4_800;
/** A word may move by this much and still be the same: 100 ms. */
const MOVED = 1_600;
/** Words that a run must have been tried on, and the part of them that may have changed. */
const LEAST_TRIED = 15;
const CHANGED_SHARE = 0.02;
/** What was tried long ago counts less and less: at this many words all counts are halved. */
const REMEMBERED = 400;

/** One length of run: what it would have called stable, and how that turned out so far. */
interface Trial {
  readonly run: number;
  words: string[];
  tried: number;
  changed: number;
}

/**
 * Tells how many leading words of a hypothesis will very likely stand in the final.
 *
 * How long a word must have been the same depends on voice, channel and noise: over clear speech
 * two hypotheses in a row tell, over a far microphone eight do not. So each run is tried on every
 * utterance without being shown, and one is believed once at most 2 % of its words changed. Until
 * then, and where none holds, nothing is called stable.
 */
export class StablePrefix {
  readonly #trials: Trial[] = RUNS.map((run) => ({ run, words: [], tried: 0, changed: 0 }));
  #recent: (readonly RecognisedWord[])[] = [];

  /** Forgets the utterance in hand without learning from it. */
  restart(): void {
    this.#recent = [];
    for (const trial of this.#trials) trial.words = [];
  }

  /** Takes the next hypothesis, of the audio up to `position`; gives its stable words. */
  hear(words: readonly RecognisedWord[], position: number): number {
    this.#recent.push(words);
    if (this.#recent.length > LONGEST_RUN) this.#recent.shift();
    const old = words.findIndex(({ end }) => end > position - LEAST_AGE);
    const aged = old < 0 ? words : words.slice(0, old);
    for (const trial of this.#trials) this.#extend(trial, aged);
    return this.#believed(words);
  }

  /** Compares what would have been called stable with the final, and begins afresh. */
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
    const stable = proved?.words ?? [];
    const differs = stable.findIndex((text, index) => words[index]?.text !== text);
    return differs < 0 ? stable.length : differs;
  }
}

function isSame(one: RecognisedWord | undefined, other: RecognisedWord): boolean {
  return one?.text === other.text && Math.abs(one.start - other.start) <= MOVED;
}
