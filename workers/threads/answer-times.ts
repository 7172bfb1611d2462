import type { AnswerTime } from "../../src/wire/gen/voice/v1/worker.ts";

/** Most arrivals that are remembered; of a long upload the newest ones. */
const MAX_ARRIVALS = 1_024;

interface Arrival {
  /** End of the audio that arrived, in samples. */
  end: number;
  at: number;
  engineMs: number;
}

/** Measures how long the answers of one session take after the audio that they need has arrived. */
export class AnswerTimes {
  readonly #now: () => number;
  #arrivals: Arrival[] = [];

  /** `now` returns milliseconds of a monotonic clock. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * Records that the audio up to `end`, or a message that ends an utterance there, has arrived; the
   * engine has worked for `engineMs` so far.
   */
  arrived(end: number, engineMs: number): void {
    while ((this.#arrivals.at(-1)?.end ?? -1) >= end) this.#arrivals.pop();
    this.#arrivals.push({ end, at: this.#now(), engineMs });
    if (this.#arrivals.length > MAX_ARRIVALS) this.#arrivals.shift();
  }

  /**
   * The time of an answer that needed the audio up to `end`; undefined when its arrival is not
   * known.
   */
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
