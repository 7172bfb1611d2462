import type { Log } from "../log.ts";
import type { Runtime } from "../runtime.ts";
import { TroubleLog } from "../trouble-log.ts";

/** What is done again and again, and how often. */
export interface PeriodicWork {
  /**
   * One run; it may say in how many milliseconds the next one begins, 0 for at once. `signal` is aborted
   * when the task is stopped.
   */
  run(signal: AbortSignal): Promise<number | undefined> | Promise<void>;
  /** Wait between the end of a run and the next one, milliseconds. */
  every: number;
  /** The longest wait after a run that took long, milliseconds: ten times its duration; `every` unless given. */
  mostEvery?: number;
  /** True when the first run has its wait, too. */
  waitsFirst?: boolean;
  /** Message of the log line when runs begin to fail. */
  trouble: string;
}

export interface PeriodicTaskOptions extends PeriodicWork {
  runtime: Pick<Runtime, "delay" | "monotonic">;
  log: Log;
}

const PAUSE_FACTOR = 10;

/**
 * Work that a process does again and again, one run after the other. A run that fails is logged, once for an
 * outage, and the next one comes in its time.
 */
export class PeriodicTask {
  readonly #options: PeriodicTaskOptions;
  readonly #stop = new AbortController();
  /** Aborted to end the wait for the next run. */
  #wake = new AbortController();
  #running: Promise<void> | undefined;

  constructor(options: PeriodicTaskOptions) {
    this.#options = options;
  }

  start(): void {
    this.#running ??= this.#repeat();
  }

  /** Runs at once; when a run is under way, once more after it. */
  wake(): void {
    const wake = this.#wake;
    this.#wake = new AbortController();
    wake.abort();
  }

  /** Resolves when the run under way is done. */
  async stop(): Promise<void> {
    this.#stop.abort();
    this.wake();
    await this.#running;
  }

  async #repeat(): Promise<void> {
    const { run, every, mostEvery = every, waitsFirst = false, runtime, log } = this.#options;
    const trouble = new TroubleLog(log, this.#options.trouble, runtime);
    const { signal } = this.#stop;
    if (waitsFirst) await runtime.delay(every, this.#wake.signal);
    while (!signal.aborted) {
      // Taken before the run, so that a call of `wake` during it is not missed.
      const woken = this.#wake.signal;
      const begun = runtime.monotonic();
      let next: unknown;
      try {
        next = await run(signal);
        trouble.worked();
      } catch (error) {
        trouble.failed(error);
      }
      const pause = Math.min(mostEvery, PAUSE_FACTOR * (runtime.monotonic() - begun));
      const wait = typeof next === "number" ? next : Math.max(every, pause);
      if (next !== 0) await runtime.delay(wait, woken);
    }
  }
}
