/** How long no more audio came when what was begun to be said counts as all of it. */
const QUIET = 15_000;

/** Tells when a device has vanished in the middle of a sentence, which it will not end. */
export class QuietSound {
  #fedTo = 0;
  #since = 0;
  #isEnded = true;

  /**
   * True once for each end of the sound, `QUIET` behind it, if there is no hope for more.
   *
   * @param fedTo end of the sound so far, in samples
   * @param now milliseconds
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
