import { delayBy, type Runtime, type Timer } from "./runtime.ts";

const BEAT_MS = 1_000;

/**
 * Makes a runtime for background work. Waits of a second and more are moved to the nearest common
 * beat, so that an idle process wakes up once a second and its parts can share one database query.
 * Shorter waits, and single timers, stay exact.
 */
export function inStep(runtime: Runtime, beatMs = BEAT_MS): Runtime {
  const beats = new Beats(runtime, beatMs);
  const isShort = (ms: number): boolean => ms < beatMs;
  return {
    ...runtime,
    delay: (ms, signal) =>
      isShort(ms) ? runtime.delay(ms, signal) : delayBy({ after: beats.after }, ms, signal),
    every: (ms, work) => (isShort(ms) ? runtime.every(ms, work) : every(beats, ms, work)),
  };
}

function every(beats: Beats, ms: number, work: () => void): Timer {
  const again = (): void => {
    timer = beats.after(ms, again);
    work();
  };
  let timer = beats.after(ms, again);
  return {
    cancel: () => timer.cancel(),
    refresh: () => timer.refresh(),
  };
}

/** Shares one timer among all who wait for the same beat. */
class Beats {
  readonly #runtime: Runtime;
  readonly #beatMs: number;
  readonly #waiting = new Map<number, { works: Set<() => void>; timer: Timer }>();

  constructor(runtime: Runtime, beatMs: number) {
    this.#runtime = runtime;
    this.#beatMs = beatMs;
  }

  after = (ms: number, work: () => void): Timer => {
    let beat = this.#join(ms, work);
    const cancel = (): void => this.#leave(beat, work);
    return {
      cancel,
      refresh: () => {
        if (this.#waiting.get(beat)?.works.has(work) !== true) return;
        cancel();
        beat = this.#join(ms, work);
      },
    };
  };

  /** Adds work to the beat nearest to `ms` from now, but always to a future one. */
  #join(ms: number, work: () => void): number {
    const now = this.#runtime.monotonic() / this.#beatMs;
    const beat = Math.max(Math.round(now + ms / this.#beatMs), Math.floor(now) + 1);
    const known = this.#waiting.get(beat);
    if (known !== undefined) {
      known.works.add(work);
      return beat;
    }
    const timer = this.#runtime.after((beat - now) * this.#beatMs, () => this.#strike(beat));
    this.#waiting.set(beat, { works: new Set([work]), timer });
    return beat;
  }

  #leave(beat: number, work: () => void): void {
    const waiting = this.#waiting.get(beat);
    if (waiting?.works.delete(work) !== true || waiting.works.size > 0) return;
    waiting.timer.cancel();
    this.#waiting.delete(beat);
  }

  #strike(beat: number): void {
    const works = this.#waiting.get(beat)?.works ?? [];
    this.#waiting.delete(beat);
    for (const work of works) work();
  }
}
