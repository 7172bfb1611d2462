import type { Page, PageRequest } from "../../rest/page.ts";
import type { JobStatus } from "../../session/status.ts";

export const JOB_KINDS = ["transcription", "summarisation"] as const;

type JobKind = (typeof JOB_KINDS)[number];

/** Work on a session, of whatever kind. Times are Unix milliseconds. */
export interface JobRecord {
  id: string;
  kind: JobKind;
  sessionId: string;
  workspaceId: string;
  status: JobStatus;
  /** 0..1 */
  progress: number;
  error: string;
  engine?: string;
  detectedLanguage?: string;
  forcedLanguage?: string;
  /** Segments edited by people that the newest repetition replaced. */
  editsReplaced: number;
  createdAt: number;
  startedAt?: number;
  completedAt?: number;
}

export interface JobFilter {
  kind?: JobKind;
  status?: JobStatus;
  sessionId?: string;
}

/** Port: jobs of all kinds. Every method throws `unavailable` when storage is away. */
export interface JobDirectory {
  find(jobId: string): Promise<JobRecord | undefined>;
  /** Newest first; jobs of the sessions to which this user has native access. */
  list(userId: string, filter: JobFilter, page: PageRequest): Promise<Page<JobRecord>>;
  /**
   * Cancels batch work that is queued or running: whoever runs it finds its
   * claim gone and may store nothing more. False when it has ended before.
   */
  cancelBatch(jobId: string): Promise<boolean>;
}
