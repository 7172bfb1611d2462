import {
  type CommonQueryMethods,
  type DatabasePool,
  type FragmentSqlToken as Fragment,
  sql,
} from "slonik";
import { z } from "zod";
import { allOf, toPage } from "../../postgres/columns.ts";
import { optionalColumn } from "../../postgres/optional-column.ts";
import type { Page, PageRequest } from "../../rest/page.ts";
import type { JobStatus } from "../../session/status.ts";
import { nativeTo } from "../sessions/store.ts";

export const JOB_KINDS = ["transcription", "summarisation"] as const;

type JobKind = (typeof JOB_KINDS)[number];

/** A job of any kind on a session. Times are Unix milliseconds. */
export interface JobRecord {
  id: string;
  kind: JobKind;
  sessionId: string;
  workspaceId: string;
  status: JobStatus;
  /** Progress, 0..1. */
  progress: number;
  error: string;
  engine?: string;
  detectedLanguage?: string;
  forcedLanguage?: string;
  /** Number of segments edited by people that the newest transcription replaced. */
  editsReplaced: number;
  createdAt: number;
  startedAt?: number;
  completedAt?: number;
}

interface JobFilter {
  kind?: JobKind;
  status?: JobStatus;
  sessionId?: string;
}

const jobRow = z.object({
  id: z.string(),
  kind: z.enum(["transcription", "summarisation"]),
  sessionId: z.string(),
  workspaceId: z.string(),
  status: z.enum(["queued", "running", "completed", "failed", "cancelled"]),
  progress: z.number(),
  error: z.string(),
  engine: optionalColumn(z.string()),
  detectedLanguage: optionalColumn(z.string()),
  forcedLanguage: optionalColumn(z.string()),
  editsReplaced: z.number(),
  createdAt: z.number(),
  startedAt: optionalColumn(z.number()),
  completedAt: optionalColumn(z.number()),
});

/**
 * Jobs of all kinds in PostgreSQL, as the API shows them. Every method throws `unavailable` when
 * storage is away.
 */
export class JobStore {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  async find(jobId: string): Promise<JobRecord | undefined> {
    return (await this.#read([sql.fragment`j.id = ${jobId}`], 1))[0];
  }

  /** Jobs of the sessions to which this user has native access, newest first. */
  async list(userId: string, filter: JobFilter, page: PageRequest): Promise<Page<JobRecord>> {
    const conditions = [nativeTo(userId)];
    if (page.after !== undefined) conditions.push(sql.fragment`j.id < ${page.after}::uuid`);
    if (filter.kind !== undefined) conditions.push(sql.fragment`j.kind = ${filter.kind}`);
    if (filter.status !== undefined) conditions.push(sql.fragment`j.status = ${filter.status}`);
    if (filter.sessionId !== undefined) {
      conditions.push(sql.fragment`j.session_id = ${filter.sessionId}`);
    }
    return toPage(await this.#read(conditions, page.limit + 1), page.limit, (job) => job.id);
  }

  /**
   * Cancels batch work that is queued or running: its host finds the claim gone and can store
   * nothing more. False when the job has already ended.
   */
  async cancelBatch(jobId: string): Promise<boolean> {
    const { rowCount } = await this.#pool.query(sql.unsafe`
      update jobs set status = 'cancelled', completed_at = now()
      where id = ${jobId} and kind <> 'transcription' and status in ('queued', 'running')`);
    return rowCount > 0;
  }

  #read(conditions: Fragment[], limit: number): Promise<readonly JobRecord[]> {
    return this.#pool.any(sql.type(jobRow)`
      select
        j.id, j.kind, j.status, j.progress, j.error, j.engine,
        j.session_id as "sessionId",
        j.workspace_id as "workspaceId",
        j.detected_language as "detectedLanguage",
        j.forced_language as "forcedLanguage",
        j.edits_replaced as "editsReplaced",
        j.created_at as "createdAt",
        j.started_at as "startedAt",
        j.completed_at as "completedAt"
      from jobs j join sessions s on s.id = j.session_id
      where ${allOf(conditions)}
      order by j.id desc limit ${limit}`);
  }
}

/** For whoever deletes a session. */
export async function cancelJobs(tx: CommonQueryMethods, { id }: { id: string }): Promise<void> {
  await tx.query(sql.unsafe`
    update jobs set status = 'cancelled', completed_at = now()
    where session_id = ${id} and status in ('queued', 'running')`);
}
