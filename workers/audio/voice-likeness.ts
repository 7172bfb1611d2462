import { SoundShape } from "./sound-shape.ts";
import { SpectralMovement } from "./spectral-movement.ts";
import { Voicing } from "./voicing.ts";

/**
 * Of strokes, clicks and taps less than this share lasts 50 ms, also of most in a room; of speech
 * and whispering 0.27 and more.
 */
const LEAST_LASTING = 0.24;
/** Energy counts up to this multiple of the mean, so that a single bang does not outweigh speech. */
const MOST_OF_MEAN = 8;
/** Speech has more energy than this below 400 Hz, over the telephone too; what rings high has not. */
const LEAST_LOW = 0.02;
/** Whispering lasts longer than strokes in a room, and has less below 400 Hz than a crowd or music. */
const WHISPERED_LASTING = 0.45;
const WHISPERED_LOW = 0.1;
/** Decibels; of breath and of brushing less than half of it. */
const WHISPERED_MOVEMENT = 0.9;

/** Tells voices and whispering from other sounds. */
export class VoiceLikeness {
  readonly #voicing = new Voicing();
  readonly #shape = new SoundShape();
  readonly #movement = new SpectralMovement();

  push(pcm: Int16Array): void {
    this.#voicing.push(pcm);
    this.#shape.push(pcm);
    this.#movement.push(pcm);
  }

  /** What the span was; "voice" also while too little was heard to tell. */
  get kind(): "voice" | "whisper" | "none" {
    const { lowShare } = this.#shape;
    if (this.#shape.lastingShare(MOST_OF_MEAN) < LEAST_LASTING) return "none";
    if (this.#voicing.isLikelyVoice) return lowShare < LEAST_LOW ? "none" : "voice";
    return !this.#voicing.isTune && this.#isWhispered ? "whisper" : "none";
  }

  get #isWhispered(): boolean {
    if (this.#shape.lowShare >= WHISPERED_LOW) return false;
    if (this.#shape.lastingShare() <= WHISPERED_LASTING) return false;
    return this.#movement.decibels > WHISPERED_MOVEMENT;
  }
}
