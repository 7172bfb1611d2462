import type { AnswerTime } from "../wire/gen/voice/v1/worker.ts";

/** Sums up how long workers took for finals after the audio that they needed was there. */
export class FinalTimes {
  #finals = 0;
  #totalMicros = 0;
  #engineMicros = 0;

  add({ total, engine }: AnswerTime): void {
    this.#finals += 1;
    this.#totalMicros += total;
    this.#engineMicros += engine;
  }

  get finals(): number {
    return this.#finals;
  }

  get seconds(): number {
    return this.#totalMicros / 1e6;
  }

  /** The part of `seconds` that passed in the engine. */
  get engineSeconds(): number {
    return this.#engineMicros / 1e6;
  }
}
