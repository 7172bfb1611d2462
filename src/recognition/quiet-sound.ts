import type { Beat } from "./idle-pause.ts";

/** Each is for one progress of the reader, which are about a second of sound apart. */
const MOST_BEATS = 6;

/**
 * When a stream's heartbeats come more often than others': behind each utterance, for some seconds, as
 * who waits for a silence learns by them that it was read.
 */
export class SilenceBeats {
  #left = 0;

  /** An utterance has ended. */
  begin(): void {
    this.#left = MOST_BEATS;
  }

  /** True when the reader's progress is to be told; counts it. */
  take(): boolean {
    if (this.#left === 0) return false;
    this.#left -= 1;
    return true;
  }
}

/**
 * An utterance is ended after this time without more audio if the sound ends in a pause,
 * milliseconds.
 */
const QUIET = 15_000;
/** The same while other sessions wait for the place at the worker. */
const QUIET_CROWDED = 5_000;

interface Sound extends Beat {
  /** End of the sound so far, in samples. */
  fedTo: number;
  /** No more audio is expected for now. */
  isGone: boolean;
}

/** Detects that a device has vanished in the middle of an utterance. */
export class QuietSound {
  #fedTo = 0;
  #since = 0;
  #isEnded = true;

  /** True once for each end of the sound, some time after it, if no more audio is expected. */
  isToEnd({ fedTo, isGone, now, isCrowded }: Sound): boolean {
    if (fedTo !== this.#fedTo) {
      this.#fedTo = fedTo;
      this.#since = now;
      this.#isEnded = false;
    }
    const quiet = isCrowded ? QUIET_CROWDED : QUIET;
    if (this.#isEnded || !isGone || now - this.#since < quiet) return false;
    this.#isEnded = true;
    return true;
  }
}
