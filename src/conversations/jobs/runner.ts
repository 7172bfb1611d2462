import { backOff } from "../../base/back-off.ts";
import { type AppError, errorMessage, toAppError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { Runtime } from "../../base/runtime.ts";
import { PeriodicTask } from "../../base/work/periodic-task.ts";
import { QueueRunner } from "../../base/work/queue-runner.ts";
import type { ClaimedJob, JobContext, JobHandler } from "./queue.ts";
import type { JobQueueStore } from "./queue-store.ts";

/** Renews the claim of one attempt, and aborts the handler's signal when the claim is lost. */
class AttemptWatch implements JobContext {
  readonly signal: AbortSignal;
  readonly renewals: PeriodicTask;
  readonly #job: ClaimedJob;
  readonly #options: JobRunnerOptions;
  readonly #lost = new AbortController();
  #renewedAt: number;
  #progress = 0;

  /** @param stop aborted when the host stops */
  constructor(job: ClaimedJob, options: JobRunnerOptions, stop: AbortSignal) {
    const { runtime, log, beatMs: every = BEAT_MS } = options;
    this.#job = job;
    this.#options = options;
    this.#renewedAt = runtime.monotonic();
    this.signal = AbortSignal.any([this.#lost.signal, stop]);
    const run = () => this.#renew();
    const trouble = "claim not renewed";
    this.renewals = new PeriodicTask({ run, every, waitsFirst: true, trouble, runtime, log });
  }

  /** True when the claim no longer holds: cancelled, taken over, or not renewed in time. */
  get isLost(): boolean {
    return this.#lost.signal.aborted;
  }

  onProgress(fraction: number): void {
    this.#progress = Math.max(this.#progress, Math.min(1, fraction));
  }

  async #renew(): Promise<void> {
    if (this.isLost) return;
    const { queue, leaseMs = LEASE_MS, runtime } = this.#options;
    const asked = runtime.monotonic();
    try {
      const holds = await queue.renew(this.#job, this.#progress, leaseMs);
      if (!holds) this.#lost.abort();
      this.#renewedAt = asked;
    } catch (error) {
      if (runtime.monotonic() - this.#renewedAt > leaseMs) this.#lost.abort();
      throw error;
    }
  }
}

const LEASE_MS = 10_000;
const BEAT_MS = 1_000;
const POLL_MS = 1_000;
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
 * it when that fails, or at once when the host stops. The claims of a host that dies expire, and another host
 * takes the jobs over.
 */
export function createJobRunner(options: JobRunnerOptions): QueueRunner<ClaimedJob> {
  const { queue, handlers, log, runtime } = options;
  const { concurrency = 2, leaseMs = LEASE_MS, pollMs = POLL_MS } = options;
  const kinds = handlers.map(({ kind }) => kind);
  return new QueueRunner({
    queue: "jobs",
    atOnce: concurrency,
    page: 1,
    every: pollMs,
    trouble: "jobs not readable",
    async claim() {
      const job = await queue.claim(kinds, leaseMs);
      return job === undefined ? [] : [job];
    },
    work: (job, stop) => runJob(job, options, stop),
    runtime,
    log,
  });
}

async function runJob(
  job: ClaimedJob,
  options: JobRunnerOptions,
  stop: AbortSignal,
): Promise<void> {
  const { id, kind, attempt, sessionId } = job;
  const log = options.log.child({ job_id: id, kind, attempt, session_id: sessionId });
  const watch = new AttemptWatch(job, { ...options, log }, stop);
  watch.renewals.start();
  try {
    await options.handlers.find((handler) => handler.kind === kind)?.run(job, watch);
    log.info({}, "job done");
  } catch (thrown) {
    const error = toAppError(thrown);
    if (watch.isLost || error.code === "lease_lost") log.info({}, "job is no longer ours");
    else {
      await settle(job, error, { queue: options.queue, log, stop }).catch((failure: unknown) => {
        // The claim expires by itself, and the job is found again.
        log.warn({ error: errorMessage(failure) }, "job not given back");
      });
    }
  } finally {
    await watch.renewals.stop();
  }
}

async function settle(
  job: ClaimedJob,
  error: AppError,
  { queue, log, stop }: Pick<JobRunnerOptions, "queue" | "log"> & { stop: AbortSignal },
): Promise<void> {
  const { code, message } = error;
  if (stop.aborted) return queue.release(job, { error: message, retryMs: 0, counts: false });
  if (code === "overloaded") {
    return queue.release(job, { error: message, retryMs: BUSY_RETRY_MS, counts: false });
  }
  if (code === "session_deleted") return queue.end(job, "cancelled", message);
  log.warn({ code, error: errorMessage(error.cause ?? error) }, "job failed");
  if (!error.retryable && code !== "conflict" && code !== "internal") {
    return queue.end(job, "failed", message);
  }
  const retryMs = backOff(job.attempt, RETRIES);
  return queue.release(job, { error: message, retryMs, counts: true });
}
