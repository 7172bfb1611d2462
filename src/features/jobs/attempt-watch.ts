import { errorMessage } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { Runtime } from "../../base/runtime.ts";
import type { JobContext } from "./job-handler.ts";
import type { ClaimedJob, JobQueue } from "./job-queue.ts";

interface AttemptWatchOptions {
  job: ClaimedJob;
  queue: JobQueue;
  leaseMs: number;
  beatMs: number;
  /** The host stops. */
  stop: AbortSignal;
  runtime: Runtime;
  log: Log;
}

/** Keeps the claim of one attempt, and tells its handler when it is over. */
export class AttemptWatch implements JobContext {
  readonly signal: AbortSignal;
  readonly #options: AttemptWatchOptions;
  readonly #lost = new AbortController();
  readonly #ended = new AbortController();
  #progress = 0;
  #beating: Promise<void> = Promise.resolve();

  constructor(options: AttemptWatchOptions) {
    this.#options = options;
    this.signal = AbortSignal.any([this.#lost.signal, options.stop]);
  }

  start(): void {
    this.#beating = this.#beat();
  }

  /** The claim stands no longer: cancelled, taken over, or not renewed in time. */
  get isLost(): boolean {
    return this.#lost.signal.aborted;
  }

  onProgress(fraction: number): void {
    this.#progress = Math.max(this.#progress, Math.min(1, fraction));
  }

  async end(): Promise<void> {
    this.#ended.abort();
    await this.#beating;
  }

  async #beat(): Promise<void> {
    const { job, queue, leaseMs, beatMs, runtime, log } = this.#options;
    let renewedAt = runtime.monotonic();
    for (;;) {
      await runtime.delay(beatMs, this.#ended.signal);
      if (this.#ended.signal.aborted) return;
      const asked = runtime.monotonic();
      try {
        const stands = await queue.renew(job, this.#progress, leaseMs);
        if (!stands) return this.#lost.abort();
        renewedAt = asked;
      } catch (error) {
        log.warn({ error: errorMessage(error) }, "claim not renewed");
        if (runtime.monotonic() - renewedAt > leaseMs) return this.#lost.abort();
      }
    }
  }
}
