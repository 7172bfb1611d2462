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
