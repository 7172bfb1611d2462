import {
  type CommonQueryMethods,
  type DatabasePool,
  type FragmentSqlToken as Fragment,
  sql,
} from "slonik";
import { z } from "zod";
import { AppError } from "../../base/errors.ts";
import { allOf, toPage } from "../../postgres/columns.ts";
import { optionalColumn } from "../../postgres/optional-column.ts";
import type { Page, PageRequest } from "../../rest/page.ts";
import {
  CUSTOM_SECTIONS,
  type JobStatus,
  SUMMARY_TYPES,
  type SummaryType,
} from "../../session/status.ts";
import { findNoteJob, queueNote } from "../jobs/note-jobs-store.ts";
import { deletionKindOf } from "../sessions/store.ts";
import { transcriptFingerprint } from "../transcript/segments-store.ts";
import type { WrittenNotes } from "../transcript/writing/document-parts.ts";
import { readItemEdits, withEdit } from "./action-items-store.ts";
import { WANTS_NOTES } from "./notes-store.ts";
import { isForOthers, type NoteTemplate, noteTypesOf } from "./templates.ts";
import { readTemplate } from "./templates-store.ts";

/** A summarisation job, without its summary. Times are Unix milliseconds. */
export interface SummaryJob {
  id: string;
  sessionId?: string;
  workspaceId: string;
  summaryType: SummaryType;
  status: JobStatus;
  /** Progress, 0..1. */
  progress: number;
  error: string;
  createdAt: number;
  completedAt?: number;
  /** True when the session was deleted, and its words with it. */
  sessionDeleted: boolean;
  /** Kind of the deletion's audit entry; undefined when there is none. */
  deletionKind?: string;
}

/** One sentence or line of a summary, with the segments that support it. */
interface SummaryPart {
  /** Of action items. */
  id?: string;
  /** Of action items: true when somebody said so. */
  done?: boolean;
  text: string;
  segmentIds: string[];
  /** Start of the first of these segments, milliseconds. */
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
  /** The language model that worded it; absent: it is by rule. */
  model?: string;
  /** Sentences of the model that were dropped, as what they cite did not bear them. */
  droppedSentences: number;
  text: string;
  items: SummaryPart[];
  createdAt: number;
  /** How many of this type the session has had, with this one. */
  version: number;
  /**
   * True when the transcript, a claim of a label in it, or what the template wants in the workspace's words
   * has changed since.
   */
  stale: boolean;
}

/** A summary that is being made, or waits for it. */
interface PendingSummary {
  summaryType: SummaryType;
  status: "queued" | "running";
  /** 0..1. */
  progress: number;
}

interface SummaryJobFilter {
  status?: JobStatus;
  summaryType?: SummaryType;
  sessionId?: string;
  workspaceId?: string;
}

/** A job may end just between two polls; then the next poll creates a new one. */
const TRIES = 3;

const summaryType = z.enum(SUMMARY_TYPES);
const nothing = z.object({});
const pendingRow = z.object({
  summaryType,
  status: z.enum(["queued", "running"]),
  progress: z.number(),
});
const workspaceRow = z.object({ workspaceId: z.string(), status: z.string() });
const textRow = z.object({ text: z.string() });
const jobRow = z.object({
  id: z.string(),
  sessionId: optionalColumn(z.string()),
  workspaceId: z.string(),
  summaryType,
  status: z.enum(["queued", "running", "completed", "failed", "cancelled"]),
  progress: z.number(),
  error: z.string(),
  createdAt: z.number(),
  completedAt: optionalColumn(z.number()),
  sessionDeleted: z.boolean(),
  deletionKind: optionalColumn(z.string()),
});
const partColumn = z
  .object({
    id: z.string().optional(),
    text: z.string(),
    segment_ids: z.array(z.string()),
    start_ms: z.number(),
    speaker: z.string().optional(),
    section: z.string().optional(),
    owner: z.string().optional(),
    due: z.string().optional(),
  })
  .transform(({ segment_ids, start_ms, ...part }) => ({
    ...part,
    segmentIds: segment_ids,
    startMs: start_ms,
  }));
const sectionsColumn = z.array(z.object({ title: z.string(), instruction: z.string() }));
const summaryRow = z.object({
  jobId: z.string(),
  sessionId: z.string(),
  summaryType,
  engine: z.string(),
  model: optionalColumn(z.string()),
  droppedSentences: z.number(),
  text: z.string(),
  items: z.array(partColumn),
  sections: optionalColumn(sectionsColumn),
  createdAt: z.number(),
  version: z.number(),
  stale: z.boolean(),
});

/**
 * Summaries and their jobs, for readers. Every method throws `unavailable` when storage is away.
 */
export class SummaryStore {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  /**
   * Creates a job, or returns the job of the same type that is queued or running. Throws
   * `session_deleted`.
   */
  request(sessionId: string, type: SummaryType): Promise<SummaryJob> {
    return this.#pool.transaction(async (tx) => {
      const workspaceId = await lockSession(tx, sessionId);
      for (let look = 0; look < TRIES; look += 1) {
        const id =
          (await queueNote(tx, sessionId, workspaceId, type)) ??
          (await findNoteJob(tx, sessionId, type));
        const [job] = id === undefined ? [] : await readJobs(tx, [sql.fragment`id = ${id}`], 1);
        if (job !== undefined) return job;
      }
      throw new AppError("unavailable", "The summary could not be queued. Please try again.");
    });
  }

  /** The newest summary of each type. */
  async latest(sessionId: string): Promise<SummaryRecord[]> {
    const rows = await this.#pool.any(sql.type(summaryRow)`
      with newest as (
        select distinct on (summary_type) *
        from summaries
        where session_id = ${sessionId}
        order by summary_type, job_id desc
      ),
      now_as as (select ${transcriptFingerprint(sql.fragment`${sessionId}::uuid`)} as fingerprint)
      select
        job_id as "jobId", session_id as "sessionId", summary_type as "summaryType", engine,
        model, dropped_sentences as "droppedSentences", text, items, sections, created_at as "createdAt", version,
        newest.fingerprint <> now_as.fingerprint as stale
      from newest cross join now_as
      order by job_id desc
    `);
    const edits = await readItemEdits(this.#pool, sessionId);
    const template = await readTemplate(this.#pool, sessionId);
    return rows.map(({ items, sections, stale, ...row }) => ({
      ...row,
      stale: stale || isForOthers(sections, template),
      items: items.map(({ id, ...part }) =>
        id === undefined ? part : withEdit({ ...part, id }, edits),
      ),
    }));
  }

  /** What is being made, and what will be without being asked for, in the order of `SUMMARY_TYPES`. */
  async pending(sessionId: string): Promise<PendingSummary[]> {
    const rows = await this.#pool.any(sql.type(pendingRow)`
      select summary_type as "summaryType", status, progress from jobs
      where kind = 'summarisation' and session_id = ${sessionId}
        and status in ('queued', 'running')`);
    const found = new Map<SummaryType, PendingSummary>(rows.map((row) => [row.summaryType, row]));
    const areDue = await this.#pool.exists(sql.type(nothing)`
      select from notes_due d
      join sessions s on s.id = d.session_id
      join workspaces w on w.id = s.workspace_id
      where d.session_id = ${sessionId} and ${WANTS_NOTES}`);
    const due = areDue ? noteTypesOf(await readTemplate(this.#pool, sessionId)) : [];
    for (const summaryType of due) {
      if (!found.has(summaryType)) {
        found.set(summaryType, { summaryType, status: "queued", progress: 0 });
      }
    }
    return SUMMARY_TYPES.flatMap((type) => found.get(type) ?? []);
  }

  /** Lists jobs, newest first. */
  async list(filter: SummaryJobFilter, page: PageRequest): Promise<Page<SummaryJob>> {
    const conditions: Fragment[] = [];
    if (page.after !== undefined) conditions.push(sql.fragment`id < ${page.after}`);
    if (filter.status !== undefined) conditions.push(sql.fragment`status = ${filter.status}`);
    if (filter.summaryType !== undefined) {
      conditions.push(sql.fragment`summary_type = ${filter.summaryType}`);
    }
    if (filter.sessionId !== undefined) {
      conditions.push(sql.fragment`session_id = ${filter.sessionId}`);
    }
    if (filter.workspaceId !== undefined) {
      conditions.push(sql.fragment`workspace_id = ${filter.workspaceId}`);
    }
    const rows = await readJobs(this.#pool, conditions, page.limit + 1);
    return toPage(rows, page.limit, ({ id }) => id);
  }

  async get(jobId: string): Promise<SummaryJob | undefined> {
    const rows = await readJobs(this.#pool, [sql.fragment`id = ${jobId}`], 1);
    return rows[0];
  }

  /** The text of the job's summary; undefined when there is none (any more). */
  async text(jobId: string): Promise<string | undefined> {
    const row = await this.#pool.maybeOne(sql.type(textRow)`
      select text from summaries where job_id = ${jobId}`);
    return row?.text;
  }
}

/** Returns the session's workspace and locks the session's row against deletion. */
async function lockSession(tx: CommonQueryMethods, sessionId: string): Promise<string> {
  const session = await tx.maybeOne(sql.type(workspaceRow)`
    select workspace_id as "workspaceId", status from sessions
    where id = ${sessionId} for share`);
  if (session === null) throw new AppError("not_found", "There is no session with this id.");
  if (session.status === "deleted") {
    throw new AppError("session_deleted", "This session was deleted.");
  }
  return session.workspaceId;
}

function readJobs(
  connection: CommonQueryMethods,
  conditions: readonly Fragment[],
  limit: number,
): Promise<readonly SummaryJob[]> {
  return connection.any(sql.type(jobRow)`
    with page as (
      select * from jobs
      where ${allOf([sql.fragment`kind = 'summarisation'`, ...conditions])}
      order by id desc
      limit ${limit}
    )
    select
      j.id, j.session_id as "sessionId", j.workspace_id as "workspaceId",
      j.summary_type as "summaryType", j.status, j.progress, j.error,
      j.created_at as "createdAt", j.completed_at as "completedAt",
      coalesce(s.status = 'deleted', true) as "sessionDeleted",
      case when coalesce(s.status = 'deleted', true)
        then ${deletionKindOf(sql.fragment`j.session_id`)} end as "deletionKind"
    from page j
    left join sessions s on s.id = j.session_id
    order by j.id desc`);
}

/** Erases notes, which would reveal words that go; resolves to how many there were. */
export async function eraseNotes(
  tx: CommonQueryMethods,
  { id }: { id: string },
): Promise<{ summaries: number }> {
  const { rowCount } = await tx.query(sql.unsafe`delete from summaries where session_id = ${id}`);
  await tx.query(sql.unsafe`delete from action_item_edits where session_id = ${id}`);
  return { summaries: rowCount };
}

/** A session's notes in the order and under the headings of a template; sections without any are left out. */
export function arrangeNotes(
  { sections }: Pick<NoteTemplate, "sections">,
  summaries: readonly Pick<SummaryRecord, "summaryType" | "model" | "items">[],
): WrittenNotes[] {
  return sections.flatMap(({ title, kind }) => {
    const type = kind === "custom" ? CUSTOM_SECTIONS : kind;
    const summary = summaries.find(({ summaryType }) => summaryType === type);
    if (summary === undefined) return [];
    const { model } = summary;
    const items = summary.items.filter(({ section }) => kind !== "custom" || section === title);
    return items.length === 0
      ? []
      : [{ title, kind, items, ...(model !== undefined && { model }) }];
  });
}
