import { type CommonQueryMethods, sql } from "slonik";
import { z } from "zod";
import { backOff } from "../../base/back-off.ts";
import { AppError } from "../../base/errors.ts";
import { newId } from "../../base/ids.ts";
import { tokensLeft, tokensToday } from "../../postgres/model-tokens.ts";
import { tenantOf } from "../../postgres/tenants.ts";
import type { ModelShare } from "../../wire/gen/voice/v1/text.ts";
import type { ClaimedJob } from "../jobs/queue.ts";

/** What a job may ask a language model for. */
interface JobModel {
  share: ModelShare;
  /** 0: it makes the summary by rule; else how often it has a model asked to word that, from 1. */
  attempt: number;
}

/** After one, four, 16, 64 and 256 minutes; then the notes by rule stay. */
const RETRIES = { firstMs: 60_000, factor: 4 };
const MOST_ATTEMPTS = 6;
const GAVE_UP = "The language model did not answer; the summary by rule stands.";

const shareRow = z.object({
  mayLeave: z.boolean(),
  tenant: z.string(),
  used: z.number(),
  attempt: z.number(),
});

const jobRow = z.object({ summaryType: z.string(), isAutomatic: z.boolean() });

const tenantOfSession = sql.fragment`coalesce(${tenantOf(sql.fragment`s.workspace_id`)}, s.workspace_id)`;

/** @param dailyTokens the most that the model may read and write a day for one tenant */
export async function readModelShare(
  tx: CommonQueryMethods,
  job: ClaimedJob,
  dailyTokens: number,
): Promise<JobModel> {
  const { mayLeave, tenant, used, attempt } = await tx.one(sql.type(shareRow)`
    select
      w.remote_text as "mayLeave", t.tenant, j.model_attempt as attempt,
      ${tokensToday(sql.fragment`t.tenant`)} as used
    from jobs j
    join sessions s on s.id = j.session_id
    join workspaces w on w.id = s.workspace_id
    cross join lateral (select ${tenantOfSession} as tenant) as t
    where j.id = ${job.id}`);
  const tokens = tokensLeft(dailyTokens, used);
  return { share: { mayLeave, tenant, tokens, later: attempt === 0 }, attempt };
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
): Promise<z.output<typeof jobRow>> {
  const end = sql.fragment`status = 'cancelled', error = ${GAVE_UP}, completed_at = now()`;
  const wait = sql.fragment`
    status = 'queued', model_attempt = ${attempt + 1}, due_at = ${after(attempt)}`;
  const job = await tx.maybeOne(sql.type(jobRow)`
    update jobs set ${attempt >= MOST_ATTEMPTS ? end : wait}, claim_id = null, claimed_until = null
    where id = ${id} and claim_id = ${claimId} and status = 'running'
    returning summary_type as "summaryType", automatic as "isAutomatic"`);
  if (job === null) throw new AppError("lease_lost", "The job was cancelled or taken over.");
  return job;
}

/** Changes a job that waits for the model alone into one that makes the summary by rule first, at once. */
export const DUE_NOW = sql.fragment`
  due_at = case when jobs.model_attempt > 0 then least(jobs.due_at, now()) else jobs.due_at end,
  model_attempt = case when jobs.status = 'queued' then 0 else jobs.model_attempt end`;

function after(attempt: number) {
  return sql.fragment`now() + ${backOff(attempt, RETRIES)} * interval '1 millisecond'`;
}
