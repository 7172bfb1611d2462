import { type CommonQueryMethods, sql } from "slonik";
import { z } from "zod";
import { backOff } from "../../base/back-off.ts";
import { AppError } from "../../base/errors.ts";
import { newId } from "../../base/ids.ts";
import type { ClaimedJob } from "./queue.ts";

/** After one, four, 16, 64 and 256 minutes; then the notes by rule stay. */
const RETRIES = { firstMs: 60_000, factor: 4 };
const MOST_ATTEMPTS = 6;
const GAVE_UP = "The language model did not answer; the summary by rule stands.";

const noteRow = z.object({ summaryType: z.string(), isAutomatic: z.boolean() });
const idRow = z.object({ id: z.string() });

/** Ends a job as done. Throws `lease_lost` when its claim holds no more. */
export async function completeNote(
  tx: CommonQueryMethods,
  { id, claimId }: ClaimedJob,
  engine: string,
): Promise<z.output<typeof noteRow>> {
  const done = await tx.maybeOne(sql.type(noteRow)`
    update jobs
    set status = 'completed', progress = 1, error = '', engine = ${engine},
        completed_at = now(), claim_id = null, claimed_until = null
    where id = ${id} and claim_id = ${claimId} and status = 'running'
    returning summary_type as "summaryType", automatic as "isAutomatic"`);
  if (done === null) throw new AppError("lease_lost", "The job was cancelled or taken over.");
  return done;
}

/** Versions of a session's notes that are kept; live ones come every few minutes. */
const KEPT_VERSIONS = 10;

/** Deletes the jobs of versions that are kept no more, and the versions with them. */
export async function dropOldVersions(
  tx: CommonQueryMethods,
  sessionId: string,
  summaryType: string,
): Promise<void> {
  await tx.query(sql.unsafe`
    delete from jobs where automatic and id in (
      select job_id from summaries
      where session_id = ${sessionId} and summary_type = ${summaryType}
      order by job_id desc offset ${KEPT_VERSIONS})`);
}

/** The id of a job that somebody asked for; undefined when one is queued or running. */
export async function queueNote(
  tx: CommonQueryMethods,
  sessionId: string,
  workspaceId: string,
  type: string,
): Promise<string | undefined> {
  const row = await tx.maybeOne(sql.type(idRow)`
    insert into jobs (id, kind, session_id, workspace_id, status, summary_type)
    values (${newId()}, 'summarisation', ${sessionId}, ${workspaceId}, 'queued', ${type})
    on conflict (session_id, summary_type)
      where kind = 'summarisation' and status in ('queued', 'running')
      do nothing
    returning id`);
  return row?.id;
}

/** The job that is queued or running; one that waits for the language model alone waits no longer. */
export async function findNoteJob(
  tx: CommonQueryMethods,
  sessionId: string,
  type: string,
): Promise<string | undefined> {
  const row = await tx.maybeOne(sql.type(idRow)`
    update jobs set ${DUE_NOW}
    where kind = 'summarisation' and session_id = ${sessionId} and summary_type = ${type}
      and status in ('queued', 'running')
    returning id`);
  return row?.id;
}

/** Jobs that make notes of these types, which nobody asked for; unless they wait already. */
export async function queueNotes(
  tx: CommonQueryMethods,
  sessionId: string,
  workspaceId: string,
  types: readonly string[],
): Promise<void> {
  const rows = types.map((type) => [newId(), type]);
  await tx.query(sql.unsafe`
    insert into jobs (id, kind, session_id, workspace_id, status, summary_type, automatic)
    select n.id, 'summarisation', ${sessionId}, ${workspaceId}, 'queued', n.type, true
    from ${sql.unnest(rows, ["uuid", "text"])} as n (id, type)
    on conflict (session_id, summary_type)
      where kind = 'summarisation' and status in ('queued', 'running')
      do update set automatic = true, ${DUE_NOW}`);
}

/** Another job that has the summary worded by a language model; unless one waits already. */
export async function haveWorded(tx: CommonQueryMethods, job: ClaimedJob): Promise<void> {
  await tx.query(sql.unsafe`
    insert into jobs
      (id, kind, session_id, workspace_id, status, summary_type, automatic, model_attempt, due_at)
    select ${newId()}, kind, session_id, workspace_id, 'queued', summary_type, automatic, 1, now()
    from jobs where id = ${job.id}
    on conflict (session_id, summary_type)
      where kind = 'summarisation' and status in ('queued', 'running')
      do nothing`);
}

/** Puts such a job back, as the model is away; ends it after the last attempt. Throws `lease_lost`. */
export async function putBack(
  tx: CommonQueryMethods,
  { id, claimId }: ClaimedJob,
  attempt: number,
): Promise<z.output<typeof noteRow>> {
  const end = sql.fragment`status = 'cancelled', error = ${GAVE_UP}, completed_at = now()`;
  const wait = sql.fragment`
    status = 'queued', model_attempt = ${attempt + 1}, due_at = ${after(attempt)}`;
  const job = await tx.maybeOne(sql.type(noteRow)`
    update jobs set ${attempt >= MOST_ATTEMPTS ? end : wait}, claim_id = null, claimed_until = null
    where id = ${id} and claim_id = ${claimId} and status = 'running'
    returning summary_type as "summaryType", automatic as "isAutomatic"`);
  if (job === null) throw new AppError("lease_lost", "The job was cancelled or taken over.");
  return job;
}

/** Changes a job that waits for the model alone into one that makes the summary by rule first, at once. */
const DUE_NOW = sql.fragment`
  due_at = case when jobs.model_attempt > 0 then least(jobs.due_at, now()) else jobs.due_at end,
  model_attempt = case when jobs.status = 'queued' then 0 else jobs.model_attempt end`;

function after(attempt: number) {
  return sql.fragment`now() + ${backOff(attempt, RETRIES)} * interval '1 millisecond'`;
}
