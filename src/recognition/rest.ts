import { isAllPlaced } from "../session/redact-covered.ts";
import type { SessionState } from "../session/state.ts";
import { SAMPLE_RATE } from "../session/timeline.ts";
import type { Reading } from "./reading.ts";

/**
 * Time without audio after which the reading is closed, milliseconds. The utterance of a silent
 * stream is ended well before.
 */
const IDLE = 20_000;
/**
 * Most samples at the end that may not be final: speech may begin at the end of silence, and the
 * worker reports about once a second what is final.
 */
const KEPT = 1.3 * SAMPLE_RATE;

type Waiting = Pick<SessionState, "phase" | "stop" | "timeline">;

/**
 * Closes the reading of a session to which no audio comes, so that it occupies no place at a
 * worker: after a while without audio, when everything is read and final, until there is something
 * to read.
 */
export class Rest {
  #fedTo = 0;
  #since = 0;
  /** The sequence whose placement ends the rest; undefined when there is no rest. */
  #next: number | undefined;

  get isOn(): boolean {
    return this.#next !== undefined;
  }

  /** End of the fed audio when the rest began, in samples. */
  get fedTo(): number {
    return this.#fedTo;
  }

  /**
   * Closes the reading if the session may rest, and returns whether it did. `now` is monotonic, in
   * milliseconds.
   */
  begins(reading: Reading | undefined, finalisedTo: number, now: number, state: Waiting): boolean {
    if (reading === undefined) return false;
    if (reading.fedTo !== this.#fedTo) {
      this.#fedTo = reading.fedTo;
      this.#since = now;
    }
    const isAllFinal = reading.isIdle && reading.fedTo - finalisedTo <= KEPT;
    if (state.phase !== "recording" || !isAllFinal || now - this.#since < IDLE) return false;
    reading.close();
    this.#next = state.timeline.next;
    return true;
  }

  /** True while there is nothing to read; otherwise ends the rest. */
  goesOn(state: Waiting): boolean {
    if (this.#next !== state.timeline.next || isAllPlaced(state)) this.#next = undefined;
    return this.isOn;
  }

  end(): void {
    this.#next = undefined;
  }
}
