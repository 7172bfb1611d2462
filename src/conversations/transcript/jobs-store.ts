import { type DatabasePool, type FragmentSqlToken as Fragment, sql } from "slonik";
import { z } from "zod";
import { toPage } from "../../postgres/columns.ts";
import { optionalColumn } from "../../postgres/optional-column.ts";
import type { Page, PageRequest } from "../../rest/page.ts";
import type { JobStatus } from "../../session/status.ts";
import { wantTranscription } from "../jobs/transcription-jobs-store.ts";
import { setVocabulary } from "../sessions/session-rows-store.ts";
import { deletionKindOf } from "../sessions/store.ts";

/** A transcription job with figures computed from its segments. Times are Unix milliseconds. */
export interface TranscriptionJob {
  id: string;
  sessionId?: string;
  workspaceId: string;
  status: JobStatus;
  /** Progress, 0..1. */
  progress: number;
  error: string;
  attempt: number;
  engine?: string;
  detectedLanguage?: string;
  forcedLanguage?: string;
  diarisationModelVersion?: string;
  segmentCount: number;
  /** Number of labels without unknown (`UU`); undefined before the first segment. */
  speakerCount?: number;
  /**
   * Length of the session's timeline, milliseconds; undefined before the first chunk has its place.
   */
  durationMs?: number;
  /** Mean confidence of the words, 0..1; undefined without words. */
  avgConfidence?: number;
  createdAt: number;
  startedAt?: number;
  completedAt?: number;
  /** True when the session was deleted, and its words with it. */
  sessionDeleted: boolean;
  /** Kind of the deletion's audit entry; undefined when there is none. */
  deletionKind?: string;
}

interface TranscriptionJobFilter {
  status?: JobStatus;
  sessionId?: string;
  workspaceId?: string;
}

/** Options for the next reading of a job. */
interface RedoOptions {
  forcedLanguage?: string | undefined;
  engine?: string | undefined;
  vocabulary?: string[] | undefined;
}

const readSessionRow = z.object({ language: z.string(), mayLeave: z.boolean() });

/** A session as it is read: in which language, and whether its sound may leave the installation. */
type ReadSession = z.output<typeof readSessionRow>;

const jobRow = z.object({
  id: z.string(),
  sessionId: optionalColumn(z.string()),
  workspaceId: z.string(),
  status: z.enum(["queued", "running", "completed", "failed", "cancelled"]),
  progress: z.number(),
  error: z.string(),
  attempt: z.number(),
  engine: optionalColumn(z.string()),
  detectedLanguage: optionalColumn(z.string()),
  forcedLanguage: optionalColumn(z.string()),
  diarisationModelVersion: optionalColumn(z.string()),
  segmentCount: z.number(),
  speakerCount: optionalColumn(z.number()),
  durationMs: optionalColumn(z.number()),
  avgConfidence: optionalColumn(z.number()),
  createdAt: z.number(),
  startedAt: optionalColumn(z.number()),
  completedAt: optionalColumn(z.number()),
  sessionDeleted: z.boolean(),
  deletionKind: optionalColumn(z.string()),
});

/**
 * Transcription jobs in PostgreSQL; figures are computed from the present words. Every method
 * throws `unavailable` when storage is away.
 */
export class TranscriptionJobStore {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  /** Lists jobs, newest first. */
  async list(filter: TranscriptionJobFilter, page: PageRequest): Promise<Page<TranscriptionJob>> {
    const conditions = [sql.fragment`kind = 'transcription'`];
    if (page.after !== undefined) conditions.push(sql.fragment`id < ${page.after}`);
    if (filter.status !== undefined) conditions.push(sql.fragment`status = ${filter.status}`);
    if (filter.sessionId !== undefined) {
      conditions.push(sql.fragment`session_id = ${filter.sessionId}`);
    }
    if (filter.workspaceId !== undefined) {
      conditions.push(sql.fragment`workspace_id = ${filter.workspaceId}`);
    }
    const rows = await this.#read(conditions, page.limit + 1);
    return toPage(rows, page.limit, ({ id }) => id);
  }

  async get(jobId: string): Promise<TranscriptionJob | undefined> {
    const conditions = [sql.fragment`kind = 'transcription'`, sql.fragment`id = ${jobId}`];
    return (await this.#read(conditions, 1))[0];
  }

  /** What decides which engines may read a session; undefined when it was deleted. */
  async sessionOf(sessionId: string): Promise<ReadSession | undefined> {
    const row = await this.#pool.maybeOne(sql.type(readSessionRow)`
      select s.language, w.remote_engines as "mayLeave"
      from sessions s join workspaces w on w.id = s.workspace_id
      where s.id = ${sessionId} and s.status <> 'deleted'`);
    return row ?? undefined;
  }

  /** Stores options for the next reading. */
  async prepareRedo(jobId: string, redo: RedoOptions): Promise<void> {
    const { forcedLanguage, engine, vocabulary } = redo;
    await wantTranscription(this.#pool, jobId, { language: forcedLanguage, engine });
    if (vocabulary !== undefined) await setVocabulary(this.#pool, jobId, vocabulary);
  }

  #read(conditions: Fragment[], limit: number): Promise<readonly TranscriptionJob[]> {
    return this.#pool.any(sql.type(jobRow)`
      with page as (
        select * from jobs
        where ${sql.join(conditions, sql.fragment` and `)}
        order by id desc
        limit ${limit}
      )
      select
        j.id,
        j.session_id as "sessionId",
        j.workspace_id as "workspaceId",
        j.status, j.progress, j.error, j.attempt, j.engine,
        j.detected_language as "detectedLanguage",
        j.forced_language as "forcedLanguage",
        j.diarisation_model_version as "diarisationModelVersion",
        figures.segments as "segmentCount",
        nullif(figures.speakers, 0) as "speakerCount",
        coalesce(j.duration_ms, timeline.duration_ms) as "durationMs",
        figures.confidence as "avgConfidence",
        j.created_at as "createdAt",
        j.started_at as "startedAt",
        j.completed_at as "completedAt",
        coalesce(s.status = 'deleted', true) as "sessionDeleted",
        case when coalesce(s.status = 'deleted', true)
          then ${deletionKindOf(sql.fragment`j.session_id`)} end as "deletionKind"
      from page j
      left join sessions s on s.id = j.session_id
      cross join lateral (
        select
          count(*)::int as segments,
          (count(distinct label) filter (where label <> 'UU'))::int as speakers,
          sum(confidence::float8 * jsonb_array_length(words))
            / nullif(sum(jsonb_array_length(words)), 0) as confidence
        from segments
        where session_id = j.session_id
      ) figures
      cross join lateral (
        select (max(start_sample + length_samples) / 16)::int as duration_ms
        from chunks
        where session_id = j.session_id
      ) timeline
      order by j.id desc
    `);
  }
}
