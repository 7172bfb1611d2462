import { type PauseState, PauseWait } from "./pause-wait.ts";

/**
 * Decides where speech begins and ends, from the probability of speech in every 32 ms.
 * Deterministic: the same probabilities give the same ends.
 */

/** Speech begins where the probability reaches the first and lasts while it reaches the second. */
const BEGIN_PROBABILITY = 0.5;
const STAY_PROBABILITY = 0.35;
/** Consecutive frames of speech that begin an utterance. */
const BEGIN_FRAMES = 2;
/**
 * Frames kept before and behind speech: 256 ms. With 60 ms soft first and last sounds were lost, and
 * words with them.
 */
export const PAD_FRAMES = 8;
/** From this length on shorter and shorter pauses end the utterance. */
const PATIENT_FRAMES = 437;
/** Longest utterance, in frames: 20 s. */
const LONGEST_FRAMES = 625;
const SHORTEST_PAUSE_FRAMES = 4;
/** An utterance that is too long is cut within this last share of it. */
const CUT_SHARE = 0.4;

type Endpoint = "none" | "begin" | "pause" | "end" | "cut";

export class Endpointer {
  /** Frames from the start of speech to the frame that detected it. */
  static readonly beginFrames = BEGIN_FRAMES;
  readonly #wait: PauseWait;
  #speaking = false;
  #voiced = 0;
  #silent = 0;
  #length = 0;

  /** Continues with the `state` of another endpointer, between utterances. */
  constructor(state?: PauseState) {
    this.#wait = new PauseWait(state);
  }

  /** True when the silence is long enough to end an utterance. */
  get silent(): boolean {
    return !this.#speaking && this.#silent >= this.#wait.frames;
  }

  /** Frames of silence up to the newest one. */
  get pause(): number {
    return this.#silent;
  }

  /** What was learnt of the pauses, for a reading that continues after an utterance. */
  state(): PauseState {
    return this.#wait.state();
  }

  /**
   * Takes the next 32 ms. `begin`: speech began `BEGIN_FRAMES` frames ago, including this one.
   * `pause`: the utterance ends with this frame unless speech goes on. `end`: it has ended
   * `PAD_FRAMES` frames behind its last speech. `cut`: it is too long, see `cutOf`.
   */
  push(probability: number): Endpoint {
    const isVoiced = probability >= (this.#speaking ? STAY_PROBABILITY : BEGIN_PROBABILITY);
    if (this.#speaking && isVoiced) this.#wait.voice(this.#silent);
    this.#voiced = isVoiced ? this.#voiced + 1 : 0;
    this.#silent = isVoiced ? 0 : this.#silent + 1;
    if (this.#speaking) return this.#continue();
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
  }

  #continue(): Endpoint {
    this.#length += 1;
    if (this.#silent >= this.#pauseNeeded()) {
      this.#wait.end(Math.min(PAD_FRAMES, this.#silent));
      this.reset();
      return "end";
    }
    if (this.#length >= LONGEST_FRAMES) {
      this.#wait.skip();
      this.reset();
      return "cut";
    }
    return this.#silent === PAD_FRAMES ? "pause" : "none";
  }

  #pauseNeeded(): number {
    const late = (this.#length - PATIENT_FRAMES) / (LONGEST_FRAMES - PATIENT_FRAMES);
    const eased = this.#wait.frames * (1 - Math.min(1, Math.max(0, late)));
    return Math.max(SHORTEST_PAUSE_FRAMES, Math.ceil(eased));
  }
}

/**
 * Where an utterance that is too long is cut: the number of its frames before the least likely
 * speech in its last part; of equally likely places the quietest.
 */
export function cutOf(frames: readonly { probability: number; level: number }[]): number {
  let cut = frames.length;
  let least = { probability: Number.POSITIVE_INFINITY, level: 0 };
  const first = Math.ceil(frames.length * (1 - CUT_SHARE));
  for (const [at, frame] of frames.entries()) {
    const { probability, level } = frame;
    if (at < first || probability > least.probability) continue;
    if (probability === least.probability && level >= least.level) continue;
    least = frame;
    cut = at + 1;
  }
  return cut;
}
