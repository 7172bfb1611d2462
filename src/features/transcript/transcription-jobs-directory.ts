import type { Page, PageRequest } from "../../rest/page.ts";
import type { JobStatus } from "../../session/status.ts";

/** A transcription job with figures taken from its segments. Times are Unix milliseconds. */
export interface TranscriptionJob {
  id: string;
  sessionId?: string;
  workspaceId: string;
  status: JobStatus;
  /** 0..1 */
  progress: number;
  error: string;
  attempt: number;
  engine?: string;
  detectedLanguage?: string;
  forcedLanguage?: string;
  diarisationModelVersion?: string;
  segmentCount: number;
  /** Distinct labels, unknown (`UU`) not counted; undefined before the first segment. */
  speakerCount?: number;
  /** Length of the session's timeline; undefined before the first chunk has its place. */
  durationMs?: number;
  /** Mean over words, 0..1; undefined without words. */
  avgConfidence?: number;
  createdAt: number;
  startedAt?: number;
  completedAt?: number;
  /** The session is gone, and its words with it. */
  sessionDeleted: boolean;
  /** Kind of the deletion's audit entry; undefined when there is none. */
  deletionKind?: string;
}

export interface TranscriptionJobFilter {
  status?: JobStatus;
  sessionId?: string;
  workspaceId?: string;
}

/** What the next reading of a job is told. */
export interface RedoOptions {
  forcedLanguage?: string | undefined;
  vocabulary?: string[] | undefined;
}

/** Port: transcription jobs. Every method throws `unavailable` when storage is away. */
export interface TranscriptionJobDirectory {
  /** Newest first. */
  list(filter: TranscriptionJobFilter, page: PageRequest): Promise<Page<TranscriptionJob>>;
  get(jobId: string): Promise<TranscriptionJob | undefined>;
  /** Keeps what the next reading is told. */
  prepareRedo(jobId: string, options: RedoOptions): Promise<void>;
}
