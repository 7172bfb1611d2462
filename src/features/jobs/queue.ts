export interface JobContext {
  /** Aborted when the job was cancelled, taken over, or the host stops. */
  signal: AbortSignal;
  /** Share of the work that is done, 0..1. */
  onProgress(fraction: number): void;
}

/**
 * Does jobs of one kind. Resolves when the result is durable and the job's row
 * is completed, both in one transaction that checked the claim.
 *
 * Throws `session_deleted` when there is nothing to do it for any more,
 * `overloaded` when nobody could take it just now (no attempt is counted),
 * `lease_lost` when the claim stood no longer, and any other AppError:
 * retryable ones and `conflict` are tried again.
 */
export interface JobHandler {
  readonly kind: string;
  run(job: ClaimedJob, context: JobContext): Promise<void>;
}

/** Batch work of any kind; what it is about is the handler's to look up. Holds no words. */
export interface ClaimedJob {
  id: string;
  kind: string;
  sessionId: string;
  /** 1 for the first. */
  attempt: number;
  /** Names this claim: nothing that belongs to an older one is taken. */
  claimId: string;
}

export interface Release {
  /** Said of the job when this was its last attempt. */
  error: string;
  /** Wait until it may be claimed again, in milliseconds. */
  retryMs: number;
  /** False for what is no fault of the job: a host that stops, workers that are busy. */
  counts: boolean;
}

/**
 * Port: jobs that wait for a host. Every method throws `unavailable` when
 * storage is away; a claim that is not renewed ends by itself. A job has three
 * attempts.
 */
export interface JobQueue {
  /**
   * The next job that is due, queued or left behind by a host whose claim ran
   * out; no other host gets it while the claim stands. Left behind too often,
   * it is failed instead.
   */
  claim(kinds: readonly string[], leaseMs: number): Promise<ClaimedJob | undefined>;
  /** Progress is 0..1 and never goes back. False when the job is no longer this claim's. */
  renew(job: ClaimedJob, progress: number, leaseMs: number): Promise<boolean>;
  /** Gives it back for another attempt, or fails it after the last one. */
  release(job: ClaimedJob, release: Release): Promise<void>;
  /** Ends it for good without a result. */
  end(job: ClaimedJob, status: "failed" | "cancelled", error: string): Promise<void>;
}
