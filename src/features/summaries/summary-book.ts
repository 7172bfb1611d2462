import type { OutboxRow } from "../../postgres/sessions-outbox.ts";
import type { SummariseRequest, Summary } from "../../wire/gen/voice/v1/text.ts";
import type { ClaimedJob } from "../jobs/job-queue.ts";

/** The words to summarise as they stand now, without those that were redacted. */
export interface SummarySource {
  request: SummariseRequest;
  /** The fingerprint of the transcript as it was read. */
  fingerprint: Buffer;
  /** Redactions of the session so far. */
  redactions: number;
}

/** Port: where summaries come from and go to. Throws `unavailable` when storage is away. */
export interface SummaryBook {
  /** Throws `session_deleted`. */
  load(job: ClaimedJob): Promise<SummarySource>;
  /**
   * Stores the summary, completes the job and makes the session's command due,
   * all or nothing. Throws `session_deleted`, `lease_lost` when the claim stands
   * no longer, and `conflict` when words were redacted since `load`.
   */
  store(job: ClaimedJob, source: SummarySource, summary: Summary): Promise<OutboxRow[]>;
}
