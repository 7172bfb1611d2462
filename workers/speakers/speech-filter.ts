import type { StateReader, StateWriter } from "./state-codec.ts";

const BELOW_PEAK_DB = 20;
/** Fall per frame of 10 ms, so that a loud start loses its effect within about ten seconds. */
const DECAY_DB = 0.05;
const RISE_DB = 0.02;
const ABOVE_NOISE_DB = 6;
const SILENCE_DB = 25;

/**
 * Distinguishes speech from pauses by level: speech is near a decaying peak and above the noise.
 */
export class SpeechFilter {
  #peak = SILENCE_DB + BELOW_PEAK_DB;
  #noise = SILENCE_DB;

  /** True when a frame of this level is speech. Frames come 10 ms apart. */
  accepts(db: number): boolean {
    this.#peak = Math.max(db, this.#peak - DECAY_DB, SILENCE_DB + BELOW_PEAK_DB);
    this.#noise = Math.max(SILENCE_DB, Math.min(db, this.#noise + RISE_DB));
    return db > this.#peak - BELOW_PEAK_DB && db > this.#noise + ABOVE_NOISE_DB;
  }

  write(to: StateWriter): void {
    to.float64(this.#peak);
    to.float64(this.#noise);
  }

  read(from: StateReader): void {
    const peak = from.float64();
    this.set(peak, from.float64());
  }

  /** Goes on with these levels, in dB. */
  set(peak: number, noise: number): void {
    this.#peak = peak;
    this.#noise = noise;
  }
}
