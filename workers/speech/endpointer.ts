import { type PauseState, PauseWait } from "./pause-wait.ts";

/**
 * Decides where speech begins and ends, from the voice activity detector's decision for every 10
 * ms. Deterministic: the same decisions and levels give the same ends.
 */

/** Consecutive voiced frames that begin an utterance. */
const BEGIN_FRAMES = 10;
/** Frames kept before the beginning, so that a soft first sound is included. */
export const LEAD_FRAMES = 25;
/**
 * From this length on shorter and shorter pauses end the utterance, so that the longest pause is
 * used.
 */
const PATIENT_FRAMES = 1_200;
/** From this length on any dip of the level ends the utterance. */
const LONG_FRAMES = 2_000;
/** Longest utterance, in frames. */
const LONGEST_FRAMES = 2_500;
const SHORTEST_PAUSE_FRAMES = 3;
/** Frames whose levels a dip is compared with: the last second. */
const LEVEL_FRAMES = 100;
/** A dip is a frame with at most this share of the loudest level of the last second. */
const DIP = 0.02;

type Endpoint = "none" | "begin" | "end";

export class Endpointer {
  /** Frames from the start of speech to the frame that detected it. */
  static readonly beginFrames = BEGIN_FRAMES;
  readonly #wait: PauseWait;
  #speaking = false;
  #voiced = 0;
  #silent = 0;
  #length = 0;
  #levels: number[] = [];

  /** Continues with the `state` of another endpointer, between utterances. */
  constructor(state?: PauseState) {
    this.#wait = new PauseWait(state);
  }

  /** True when the silence is long enough to end an utterance. */
  get silent(): boolean {
    return !this.#speaking && this.#silent >= this.#wait.frames;
  }

  /** What was learnt of the pauses, for a reading that continues after an utterance. */
  state(): PauseState {
    return this.#wait.state();
  }

  /**
   * Takes the next 10 ms. `begin`: speech began `BEGIN_FRAMES` frames ago, including this one.
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

  /** Records that audio is missing, so the length of the current pause is unknown. */
  skip(): void {
    this.#wait.skip();
  }

  /** Returns to silence and drops the current utterance; what was learnt of pauses stays. */
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
