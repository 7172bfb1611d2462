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

/**
 * Learns how long a pause must be to end an utterance: 400 ms at first, then longer where speech
 * often continues after about that time, and slowly shorter where it does not. Deterministic, with
 * integers only: a second reading waits equally long.
 */
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

/**
 * Decides where speech begins and ends, from the probability of speech in every 32 ms.
 * Deterministic: the same probabilities give the same ends.
 */
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
