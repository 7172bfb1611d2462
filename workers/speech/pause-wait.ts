/**
 * Learns how long a pause must be to end an utterance: 400 ms at first, then longer where speech
 * often continues after about that time, and slowly shorter where it does not. Deterministic, with
 * integers only: a second reading waits equally long.
 */

const FRAME_US = 32_000;
const FIRST_US = 400_000;
/** A hesitation of 300 ms ends no utterance; the detector takes up to 50 ms to notice speech. */
const SHORTEST_US = 370_000;
const LONGEST_US = 560_000;
/** Increase for each pause that nearly ended, or wrongly ended, an utterance. */
const STEP_UP_US = 20_000;
/** Decrease for each voiced frame: 5 ms per second of speech. */
const STEP_DOWN_US = 160;
/** Pauses between these multiples of the wait count as pauses that should not end an utterance. */
const NEAR = 0.8;
const OVER = 1.6;

/** State that is carried from one utterance to the next. */
export interface PauseState {
  /** The wait, microseconds. */
  wait: number;
  /**
   * Frames since the last voice, while the utterance may still prove to have ended too early; else
   * -1.
   */
  gap: number;
}

export class PauseWait {
  #wait: number;
  #gap: number;

  constructor({ wait, gap }: PauseState = { wait: FIRST_US, gap: -1 }) {
    this.#wait = clamp(wait);
    this.#gap = gap;
  }

  /** Number of unvoiced frames that end an utterance now. */
  get frames(): number {
    return Math.round(this.#wait / FRAME_US);
  }

  state(): PauseState {
    return { wait: this.#wait, gap: this.#gap };
  }

  /** Takes a voiced frame within an utterance, after `silent` unvoiced frames. */
  voice(silent: number): void {
    if (silent * FRAME_US >= NEAR * this.#wait) this.#wait += STEP_UP_US;
    this.#wait = clamp(this.#wait - STEP_DOWN_US);
  }

  /** Records that a pause of `silent` frames ended an utterance. */
  end(silent: number): void {
    this.#gap = silent;
  }

  /** Takes the next frame between utterances. */
  silence(): void {
    if (this.#gap < 0) return;
    this.#gap += 1;
    if (this.#gap * FRAME_US > 2 * LONGEST_US) this.#gap = -1;
  }

  /** Records that an utterance began this many frames ago. */
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
