import type { StateReader, StateWriter } from "./state-codec.ts";

const BELOW_PEAK_DB = 20;
/** 0.05 dB per 10 ms, so that a loud start is forgotten in ten seconds or so. */
const DECAY_DB = 0.2;
const RISE_DB = 0.08;
const ABOVE_NOISE_DB = 6;
const SILENCE_DB = 25;

/** Tells frames of speech from pauses by their level: near a decaying peak and above the noise. */
export class SpeechGate {
  #peak = SILENCE_DB + BELOW_PEAK_DB;
  #noise = SILENCE_DB;

  /** Whether a frame of this level is speech. Frames come 40 ms apart. */
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
    this.#peak = from.float64();
    this.#noise = from.float64();
  }
}
