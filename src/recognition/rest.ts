import { isAllPlaced } from "../session/redact-covered.ts";
import type { SessionState } from "../session/state.ts";
import { SAMPLE_RATE } from "../session/timeline.ts";
import type { Reading } from "./reading.ts";

/** Milliseconds; the utterance of a stream that fell silent is ended well before. */
const IDLE = 20_000;
/** Speech may begin at the end of silence, and the worker tells once a second what is final. */
const KEPT = 1.3 * SAMPLE_RATE;

type Waiting = Pick<SessionState, "phase" | "stop" | "timeline">;

/**
 * A session to which no audio comes holds no worker's place: after a while in which nothing came,
 * with everything read and final, its reading is given up until there is something to read.
 */
export class Rest {
  #fedTo = 0;
  #since = 0;
  /** The chunk that would end it; undefined when it is over. */
  #next: number | undefined;

  get isOn(): boolean {
    return this.#next !== undefined;
  }

  /** End of what was fed when it began, in samples. */
  get fedTo(): number {
    return this.#fedTo;
  }

  /** True when the reading was given up. `now` is monotonic, in milliseconds. */
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

  /** Whether there is still nothing to read; it is over when there is. */
  goesOn(state: Waiting): boolean {
    if (this.#next !== state.timeline.next || isAllPlaced(state)) this.#next = undefined;
    return this.isOn;
  }

  end(): void {
    this.#next = undefined;
  }
}
