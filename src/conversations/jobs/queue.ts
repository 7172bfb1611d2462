export interface JobContext {
  /** Aborted when the job was cancelled, taken over, or the host stops. */
  signal: AbortSignal;
  /** Reports the share of the work that is done, 0..1. */
  onProgress(fraction: number): void;
}

/**
 * Runs jobs of one kind. Resolves when the result is durable and the job's row is completed, both
 * in one transaction that checked the claim.
 *
 * Throws `session_deleted` when the session is gone, `overloaded` when no worker could take the
 * work just now (no attempt is counted), `lease_lost` when the claim no longer held, and any other
 * AppError: retryable ones and `conflict` are tried again.
 */
export interface JobHandler {
  readonly kind: string;
  run(job: ClaimedJob, context: JobContext): Promise<void>;
}

/** A claimed batch job of any kind; the handler looks up the details. Contains no words. */
export interface ClaimedJob {
  id: string;
  kind: string;
  sessionId: string;
  /** Number of the attempt, from 1. */
  attempt: number;
  /** Names this claim: results of older claims are refused. */
  claimId: string;
}

export interface Release {
  /** The job's error text when this was its last attempt. */
  error: string;
  /** Time until it may be claimed again, in milliseconds. */
  retryMs: number;
  /** False when the job is not at fault: the host stops, or workers are busy. */
  counts: boolean;
}
