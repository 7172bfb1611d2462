import type { Page, PageRequest } from "../../rest/page.ts";
import type { JobStatus, SummaryType } from "../../session/status.ts";

/** A summarisation job, without words. Times are Unix milliseconds. */
export interface SummaryJob {
  id: string;
  sessionId?: string;
  workspaceId: string;
  summaryType: SummaryType;
  status: JobStatus;
  /** 0..1 */
  progress: number;
  error: string;
  createdAt: number;
  completedAt?: number;
  /** The session is gone, and its words with it. */
  sessionDeleted: boolean;
  /** Of the audit entry of that deletion, where there is one. */
  deletionKind?: string;
}

/** One sentence or line of a summary, with the segments that say so. */
interface SummaryPart {
  text: string;
  segmentIds: string[];
  /** Where the first of them begins. */
  startMs: number;
  speaker?: string;
  section?: string;
  owner?: string;
  due?: string;
}

export interface SummaryRecord {
  jobId: string;
  sessionId: string;
  summaryType: SummaryType;
  engine: string;
  text: string;
  items: SummaryPart[];
  createdAt: number;
  /** The transcript, or who claimed a voice in it, has changed since. */
  stale: boolean;
}

export interface SummaryJobFilter {
  status?: JobStatus;
  summaryType?: SummaryType;
  sessionId?: string;
  workspaceId?: string;
}

/** Port: summaries and the jobs that make them. Every method throws `unavailable` when storage is away. */
export interface SummaryDirectory {
  /**
   * A queued job, or the one of the same type that is queued or running
   * already. Throws `session_deleted`.
   */
  request(sessionId: string, summaryType: SummaryType): Promise<SummaryJob>;
  /** The newest of each type. */
  latest(sessionId: string): Promise<SummaryRecord[]>;
  /** Newest first. */
  list(filter: SummaryJobFilter, page: PageRequest): Promise<Page<SummaryJob>>;
  get(jobId: string): Promise<SummaryJob | undefined>;
  /** The words that the job made; undefined when there are none, or none any more. */
  text(jobId: string): Promise<string | undefined>;
}
