/** An unfinished utterance is ended after this time without more audio, milliseconds. */
const QUIET = 15_000;

/** Detects that a device has vanished in the middle of an utterance. */
export class QuietSound {
  #fedTo = 0;
  #since = 0;
  #isEnded = true;

  /**
   * True once for each end of the sound, `QUIET` after it, if no more audio is expected.
   *
   * @param fedTo end of the sound so far, in samples
   * @param now milliseconds
   * @param isGone no more audio is expected for now
   */
  isToEnd(fedTo: number, now: number, isGone: boolean): boolean {
    if (fedTo !== this.#fedTo) {
      this.#fedTo = fedTo;
      this.#since = now;
      this.#isEnded = false;
    }
    if (this.#isEnded || !isGone || now - this.#since < QUIET) return false;
    this.#isEnded = true;
    return true;
  }
}
