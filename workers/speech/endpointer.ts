import { type PauseState, PauseWait } from "./pause-wait.ts";

/**
 * Decides where speech begins and ends, from one decision of the voice activity detector for
 * every 10 ms. Pure: the same decisions and levels give the same ends.
 */

/** Voiced frames in a row that make a beginning. */
const BEGIN_FRAMES = 10;
/** Frames kept before the beginning, so that a soft first sound is heard. */
export const LEAD_FRAMES = 25;
/** From here on shorter and shorter pauses are taken, so that the longest one wins. */
const PATIENT_FRAMES = 1_200;
/** From here on any dip of the level is taken. */
const LONG_FRAMES = 2_000;
/** No utterance is longer. */
const LONGEST_FRAMES = 2_500;
const SHORTEST_PAUSE_FRAMES = 3;
/** Levels that a dip is compared with: the last second. */
const LEVEL_FRAMES = 100;
/** A dip is a frame at most this part of the loudest of the last second. */
const DIP = 0.02;

type Endpoint = "none" | "begin" | "end";

export class Endpointer {
  /** Frames from where speech began to the one that told so. */
  static readonly beginFrames = BEGIN_FRAMES;
  readonly #wait: PauseWait;
  #speaking = false;
  #voiced = 0;
  #silent = 0;
  #length = 0;
  #levels: number[] = [];

  /** Goes on with what `state` gave of another one, between utterances. */
  constructor(state?: PauseState) {
    this.#wait = new PauseWait(state);
  }

  /** True when there has been no voice for as long as ends an utterance. */
  get silent(): boolean {
    return !this.#speaking && this.#silent >= this.#wait.frames;
  }

  /** Frames without voice at the end of the utterance in hand. */
  get pause(): number {
    return this.#speaking ? this.#silent : 0;
  }

  /** What was learnt of the pauses, for a reading that goes on after an utterance. */
  state(): PauseState {
    return this.#wait.state();
  }

  /**
   * Takes the next 10 ms. `begin`: speech began `BEGIN_FRAMES` frames ago, this one included.
   * `end`: the utterance ends with this frame.
   *
   * @param level mean square of the frame's samples
   */
  push(voiced: boolean, level: number): Endpoint {
    if (this.#speaking && voiced) this.#wait.voice(this.#silent);
    this.#voiced = voiced ? this.#voiced + 1 : 0;
    this.#silent = voiced ? 0 : this.#silent + 1;
    if (this.#speaking) return this.#continue(level);
    this.#wait.silence();
    if (this.#voiced < BEGIN_FRAMES) return "none";
    this.#wait.begin(BEGIN_FRAMES);
    this.#speaking = true;
    this.#length = BEGIN_FRAMES;
    return "begin";
  }

  /** Audio is missing: how long the pause before what follows was cannot be known. */
  skip(): void {
    this.#wait.skip();
  }

  /** Back to silence: nothing of what was heard counts any more, but what was learnt stays. */
  reset(): void {
    this.#speaking = false;
    this.#voiced = 0;
    this.#silent = 0;
    this.#length = 0;
    this.#levels = [];
  }

  #continue(level: number): Endpoint {
    this.#length += 1;
    const paused = this.#silent >= this.#pauseNeeded();
    if (!paused && !this.#mustCut(level)) return "none";
    if (paused) this.#wait.end(this.#silent);
    this.reset();
    return "end";
  }

  #pauseNeeded(): number {
    const late = (this.#length - PATIENT_FRAMES) / (LONG_FRAMES - PATIENT_FRAMES);
    const eased = this.#wait.frames * (1 - Math.min(1, Math.max(0, late)));
    return Math.max(SHORTEST_PAUSE_FRAMES, Math.ceil(eased));
  }

  #mustCut(level: number): boolean {
    if (this.#length < LONG_FRAMES - LEVEL_FRAMES) return false;
    this.#levels.push(level);
    if (this.#levels.length > LEVEL_FRAMES) this.#levels.shift();
    if (this.#length >= LONGEST_FRAMES) return true;
    return this.#length >= LONG_FRAMES && level <= DIP * Math.max(...this.#levels);
  }
}
