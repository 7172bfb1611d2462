/**
 * How long to wait in a pause before an utterance is called over, learnt from the pauses of those
 * who speak: 250 ms at first, then more where speech often goes on after about that time, slowly
 * less where it does not. Pure, and all whole numbers: a second reading waits equally long.
 */

const FRAME_US = 10_000;
const FIRST_US = 250_000;
/** At 200 ms a few more words were wrong than at 250, at 250 no more than at 300. */
const SHORTEST_US = 200_000;
const LONGEST_US = 400_000;
/** For each pause that was nearly, or just, called an end. */
const STEP_UP_US = 20_000;
/** For each voiced frame: 5 ms less after every second of speech. */
const STEP_DOWN_US = 50;
/** Parts of the wait between which a pause counts as one that should not end an utterance. */
const NEAR = 0.8;
const OVER = 1.6;

/** What is carried from one utterance to the next. */
export interface PauseState {
  /** The wait in microseconds. */
  wait: number;
  /** Frames since the last voice, while it may turn out that the utterance ended too early; else -1. */
  gap: number;
}

export class PauseWait {
  #wait: number;
  #gap: number;

  constructor({ wait, gap }: PauseState = { wait: FIRST_US, gap: -1 }) {
    this.#wait = clamp(wait);
    this.#gap = gap;
  }

  /** Frames without voice that end an utterance now. */
  get frames(): number {
    return Math.round(this.#wait / FRAME_US);
  }

  state(): PauseState {
    return { wait: this.#wait, gap: this.#gap };
  }

  /** A voiced frame inside an utterance, after `silent` frames without voice. */
  voice(silent: number): void {
    if (silent * FRAME_US >= NEAR * this.#wait) this.#wait += STEP_UP_US;
    this.#wait = clamp(this.#wait - STEP_DOWN_US);
  }

  /** An utterance was ended by a pause of so many frames. */
  end(silent: number): void {
    this.#gap = silent;
  }

  /** The next frame between utterances. */
  silence(): void {
    if (this.#gap < 0) return;
    this.#gap += 1;
    if (this.#gap * FRAME_US > 2 * LONGEST_US) this.#gap = -1;
  }

  /** An utterance began so many frames ago. */
  begin(frames: number): void {
    const pause = (this.#gap - frames) * FRAME_US;
    if (this.#gap >= 0 && pause <= OVER * this.#wait) this.#wait = clamp(this.#wait + STEP_UP_US);
    this.#gap = -1;
  }

  skip(): void {
    this.#gap = -1;
  }
}

function clamp(wait: number): number {
  return Math.min(LONGEST_US, Math.max(SHORTEST_US, wait));
}
