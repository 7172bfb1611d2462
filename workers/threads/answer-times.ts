import type { AnswerTime } from "../../src/wire/gen/voice/v1/worker.ts";

/** Arrivals that are remembered: of a long upload the newest ones. */
const MAX_ARRIVALS = 1_024;

interface Arrival {
  /** End of the audio that came, in samples. */
  end: number;
  at: number;
  engineMs: number;
}

/** How long the answers of one session take after the audio that they need has come. */
export class AnswerTimes {
  readonly #now: () => number;
  #arrivals: Arrival[] = [];

  /** `now` gives milliseconds of a clock that only goes on. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * Audio up to `end` is there, or what ends an utterance there; the engine was at work for
   * `engineMs` so far.
   */
  arrived(end: number, engineMs: number): void {
    while ((this.#arrivals.at(-1)?.end ?? -1) >= end) this.#arrivals.pop();
    this.#arrivals.push({ end, at: this.#now(), engineMs });
    if (this.#arrivals.length > MAX_ARRIVALS) this.#arrivals.shift();
  }

  /** Of an answer given now that needed the audio up to `end`; undefined when that is not known. */
  answered(end: number, engineMs: number): AnswerTime | undefined {
    const needed = this.#arrivals.findIndex((arrival) => arrival.end >= end);
    this.#arrivals.splice(0, Math.max(0, needed));
    const arrival = needed < 0 ? this.#arrivals.at(-1) : this.#arrivals[0];
    if (arrival === undefined) return undefined;
    const total = this.#now() - arrival.at;
    return { total: micros(total), engine: micros(engineMs - arrival.engineMs) };
  }
}

function micros(ms: number): number {
  return Math.min(0xffff_ffff, Math.max(0, Math.round(ms * 1_000)));
}
