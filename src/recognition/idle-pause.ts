import { isAllPlaced } from "../session/redact-covered.ts";
import type { SessionState } from "../session/state.ts";
import { SAMPLE_RATE } from "../session/timeline.ts";
import type { TranscriptionRun } from "./transcription-run.ts";

/**
 * Time without audio after which the reading is closed, milliseconds. The utterance of a silent
 * stream is ended well before, unless it broke off within a word: then the place is only given up
 * while others wait for it.
 */
const IDLE = 20_000;
/** The same while other sessions wait for the place; devices send their chunks each few seconds. */
const IDLE_CROWDED = 10_000;
/**
 * Most samples at the end that may not be final: speech may begin at the end of silence, and the
 * worker reports about once a second what is final.
 */
const KEPT = 1.3 * SAMPLE_RATE;

/** A moment at which it is checked whether a session may pause. */
export interface Beat {
  /** Monotonic, milliseconds. */
  now: number;
  /** Other sessions wait for a place at a worker. */
  isCrowded: boolean;
}

type Waiting = Pick<SessionState, "phase" | "stop" | "timeline">;

/**
 * Closes the reading of a session to which no audio comes, so that it occupies no place at a
 * worker: after a while without audio, when everything is read and final, until there is something
 * to read.
 */
export class IdlePause {
  #fedTo = 0;
  #since = 0;
  /** The sequence whose placement ends the pause; undefined when there is none. */
  #next: number | undefined;

  get isOn(): boolean {
    return this.#next !== undefined;
  }

  /** End of the fed audio when the pause began, in samples. */
  get fedTo(): number {
    return this.#fedTo;
  }

  /**
   * Closes the reading if the session may pause, and returns whether it did. While others wait for
   * the place it may in the middle of an utterance, which is then read again from its beginning.
   *
   * @param finalisedTo end of the final text, in samples
   */
  tryBegin(
    reading: TranscriptionRun | undefined,
    state: Waiting,
    finalisedTo: number,
    at: Beat,
  ): boolean {
    const { now, isCrowded } = at;
    if (reading === undefined) return false;
    if (reading.fedTo !== this.#fedTo) {
      this.#fedTo = reading.fedTo;
      this.#since = now;
    }
    const isFinal = reading.fedTo - finalisedTo <= KEPT;
    if (state.phase !== "recording" || !reading.isIdle || !(isFinal || isCrowded)) return false;
    if (now - this.#since < (isCrowded ? IDLE_CROWDED : IDLE)) return false;
    reading.close();
    this.#next = state.timeline.next;
    return true;
  }

  /** True while there is nothing to read; otherwise ends the pause. */
  isStillOn(state: Waiting): boolean {
    if (this.#next !== state.timeline.next || isAllPlaced(state)) this.#next = undefined;
    return this.isOn;
  }

  end(): void {
    this.#next = undefined;
  }
}
