import { toSeconds } from "../base/audio/sample-rate.ts";
import type { Log } from "../base/log.ts";
import { SecondsHistogram } from "../base/metrics/seconds-histogram.ts";
import type { AnswerTime, Utterance } from "../wire/gen/voice/v1/worker.ts";

/** Sums up how long workers took for finals after the audio that they needed was there. */
export class FinalTimes {
  /** Of each final. */
  readonly times = new SecondsHistogram();
  #finals = 0;
  #totalMicros = 0;
  #engineMicros = 0;

  add({ total, engine }: AnswerTime): void {
    this.#finals += 1;
    this.#totalMicros += total;
    this.#engineMicros += engine;
    this.times.add(total / 1e6);
  }

  get finals(): number {
    return this.#finals;
  }

  get seconds(): number {
    return this.#totalMicros / 1e6;
  }

  /** The part of `seconds` that passed in the engine, and in the networks of voices where they alone were waited for. */
  get engineSeconds(): number {
    return this.#engineMicros / 1e6;
  }
}

/** Adds the answer time of a final with words, and logs it. */
export function noteTime(
  { end, segments, time }: Utterance,
  { log, times }: { log: Log; times?: FinalTimes | undefined },
): void {
  if (time === undefined || segments.length === 0) return;
  times?.add(time);
  const [total_ms, engine_ms] = [time.total / 1_000, time.engine / 1_000];
  const needed = toSeconds(time.needed ?? end);
  const noted = { event: "final", end: toSeconds(end), needed, total_ms, engine_ms };
  log.debug(noted, "the worker answered");
}
