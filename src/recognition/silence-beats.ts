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
