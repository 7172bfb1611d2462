import { backOff } from "../../base/back-off.ts";
import { type AppError, errorMessage, toAppError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { QueueFigures, QueueOwner } from "../../base/queue-metrics.ts";
import type { Runtime } from "../../base/runtime.ts";
import { TroubleLog } from "../../base/trouble-log.ts";
import type { ClaimedJob, JobContext, JobHandler } from "./queue.ts";
import type { JobQueueStore } from "./queue-store.ts";

interface AttemptWatchOptions {
  job: ClaimedJob;
  queue: Pick<JobQueueStore, "claim" | "renew" | "release" | "end">;
  leaseMs: number;
  beatMs: number;
  /** Aborted when the host stops. */
  stop: AbortSignal;
  runtime: Runtime;
  log: Log;
}

/** Renews the claim of one attempt, and aborts the handler's signal when the claim is lost. */
class AttemptWatch implements JobContext {
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

  /** True when the claim no longer holds: cancelled, taken over, or not renewed in time. */
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

const RETRIES = { firstMs: 1_000, factor: 4 };
/** Wait when no worker can take the job. */
const BUSY_RETRY_MS = 2_000;

export interface JobRunnerOptions {
  queue: Pick<JobQueueStore, "claim" | "renew" | "release" | "end">;
  handlers: readonly JobHandler[];
  log: Log;
  runtime: Runtime;
  /** Number of jobs that run at once. */
  concurrency?: number;
  /** Time after which a dead host's job is taken over, in milliseconds. */
  leaseMs?: number;
  /** Time between renewals, in milliseconds; a cancelled job is noticed within it. */
  beatMs?: number;
  /** Time between looks for work when there was none, in milliseconds; `wake` ends the wait. */
  pollMs?: number;
}

/**
 * Runs batch jobs: claims one that is due, renews its claim while the handler works, and releases
 * it when that fails. The claims of a host that dies expire, and another host takes the jobs over.
 */
export class JobRunner implements QueueOwner {
  readonly #queue: Pick<JobQueueStore, "claim" | "renew" | "release" | "end">;
  readonly #handlers: ReadonlyMap<string, JobHandler>;
  readonly #log: Log;
  readonly #runtime: Runtime;
  readonly #concurrency: number;
  readonly #leaseMs: number;
  readonly #beatMs: number;
  readonly #pollMs: number;
  readonly #stop = new AbortController();
  /** Aborted to end the waits between looks. */
  #wake = new AbortController();
  readonly #trouble: TroubleLog;
  #running: Promise<unknown> | undefined;
  #busy = 0;

  constructor(options: JobRunnerOptions) {
    this.#queue = options.queue;
    this.#handlers = new Map(options.handlers.map((handler) => [handler.kind, handler]));
    this.#log = options.log;
    this.#runtime = options.runtime;
    this.#trouble = new TroubleLog(options.log, "jobs not readable", options.runtime);
    this.#concurrency = options.concurrency ?? 2;
    this.#leaseMs = options.leaseMs ?? 10_000;
    this.#beatMs = options.beatMs ?? 1_000;
    this.#pollMs = options.pollMs ?? 1_000;
  }

  get queues(): readonly QueueFigures[] {
    return [{ queue: "jobs", length: this.#busy, limit: this.#concurrency, refused: 0 }];
  }

  start(): void {
    this.#running ??= Promise.all(Array.from({ length: this.#concurrency }, () => this.#work()));
  }

  /** Looks for work at once. */
  wake(): void {
    const wake = this.#wake;
    this.#wake = new AbortController();
    wake.abort();
  }

  /** Releases running jobs at once; another host may continue with them. */
  async stop(): Promise<void> {
    this.#stop.abort();
    this.wake();
    await this.#running;
  }

  async #work(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      // Taken before the poll, so that a call of `wake` during the poll is not missed.
      const woken = this.#wake.signal;
      const job = await this.#claim();
      if (job === undefined) await this.#runtime.delay(this.#pollMs, woken);
      else await this.#run(job);
    }
  }

  async #claim(): Promise<ClaimedJob | undefined> {
    try {
      const job = await this.#queue.claim([...this.#handlers.keys()], this.#leaseMs);
      this.#trouble.worked();
      return job;
    } catch (error) {
      this.#trouble.failed(error);
      return undefined;
    }
  }

  async #run(job: ClaimedJob): Promise<void> {
    const { id, kind, attempt, sessionId } = job;
    const log = this.#log.child({ job_id: id, kind, attempt, session_id: sessionId });
    const watch = new AttemptWatch({
      job,
      queue: this.#queue,
      leaseMs: this.#leaseMs,
      beatMs: this.#beatMs,
      stop: this.#stop.signal,
      runtime: this.#runtime,
      log,
    });
    watch.start();
    this.#busy += 1;
    try {
      await this.#handlers.get(kind)?.run(job, watch);
      log.info({}, "job done");
    } catch (error) {
      await this.#settle(job, toAppError(error), watch.isLost, log).catch((failure: unknown) => {
        // The claim expires by itself, and the job is found again.
        log.warn({ error: errorMessage(failure) }, "job not given back");
      });
    } finally {
      await watch.end();
      this.#busy -= 1;
    }
  }

  async #settle(job: ClaimedJob, error: AppError, isLost: boolean, log: Log): Promise<void> {
    const { code, message } = error;
    if (isLost || code === "lease_lost") return log.info({}, "job is no longer ours");
    if (this.#stop.signal.aborted) {
      return this.#queue.release(job, { error: message, retryMs: 0, counts: false });
    }
    if (code === "overloaded") {
      return this.#queue.release(job, { error: message, retryMs: BUSY_RETRY_MS, counts: false });
    }
    if (code === "session_deleted") return this.#queue.end(job, "cancelled", message);
    log.warn({ code, error: errorMessage(error.cause ?? error) }, "job failed");
    if (!error.retryable && code !== "conflict" && code !== "internal") {
      return this.#queue.end(job, "failed", message);
    }
    const retryMs = backOff(job.attempt, RETRIES);
    return this.#queue.release(job, { error: message, retryMs, counts: true });
  }
}
