import { type DatabasePool, sql } from "slonik";
import { z } from "zod";
import { newId } from "../../base/ids.ts";
import { tenantOf } from "../../postgres/tenants.ts";
import { isWaiting, type WaitingWorkStore } from "../../postgres/waiting-work.ts";
import type { ClaimedJob, Release } from "./queue.ts";

const claimedRow = z.object({
  id: z.string(),
  kind: z.string(),
  sessionId: z.string(),
  attempt: z.number(),
});
const idRow = z.object({ id: z.string() });

const MAX_ATTEMPTS = 3;
/** So many that wait for a language model run at once, on all hosts together: they take long, others do not. */
const MOST_WORDING = 6;
const LEFT_BEHIND = "The work was begun several times and never came to an end.";

/**
 * The queue of batch jobs in PostgreSQL. A host that claims a job holds it until `claimed_until`; a
 * claim that is not renewed ends by itself. A job has three attempts. Every method throws
 * `unavailable` when storage is away.
 */
export class JobQueueStore {
  readonly #pool: DatabasePool;
  readonly #pendingWork: WaitingWorkStore | undefined;

  /** @param pendingWork skips the query when it knows of no waiting job */
  constructor(pool: DatabasePool, pendingWork?: WaitingWorkStore) {
    this.#pool = pool;
    this.#pendingWork = pendingWork;
  }

  /**
   * Claims the next due job: a queued one, or one whose host let its claim expire; first of tenants of
   * whom fewer are running, what is made by rule before what a language model words, and what somebody asked for
   * before what nobody did. No other host gets it
   * while the claim holds. A job that was left behind too often is failed instead.
   */
  async claim(kinds: readonly string[], leaseMs: number): Promise<ClaimedJob | undefined> {
    if (!(await isWaiting(this.#pendingWork, "jobs"))) return undefined;
    const claimId = newId();
    const wanted = sql.array([...kinds], "text");
    const row = await this.#pool.maybeOne(sql.type(claimedRow)`
      with abandoned as (
        update jobs
        set status = 'failed', error = ${LEFT_BEHIND}, completed_at = now(),
            claim_id = null, claimed_until = null
        where kind = any(${wanted}) and status = 'running'
          and claimed_until < now() and attempt >= ${MAX_ATTEMPTS}
      ),
      busy as (
        select ${tenantOf(sql.fragment`jobs.workspace_id`)} as tenant, count(*) as running
        from jobs
        where kind = any(${wanted}) and status = 'running' and claimed_until >= now()
        group by 1
      ),
      wording as (
        select count(*) as running from jobs
        where kind = any(${wanted}) and status = 'running' and claimed_until >= now()
          and model_attempt > 0
      ),
      next as (
        select due.id from jobs due
        left join busy on busy.tenant = ${tenantOf(sql.fragment`due.workspace_id`)}
        where due.kind = any(${wanted}) and due.session_id is not null
          and (due.model_attempt = 0 or (select running from wording) < ${MOST_WORDING}) and (
          (due.status = 'queued' and due.due_at <= now())
          or (due.status = 'running' and due.claimed_until < now()
            and due.attempt < ${MAX_ATTEMPTS})
        )
        order by coalesce(busy.running, 0), due.model_attempt > 0, due.automatic, due.due_at, due.id
        limit 1
        for update of due skip locked
      )
      update jobs as j
      set status = 'running', claim_id = ${claimId}, claimed_until = ${inMs(leaseMs)},
          attempt = attempt + case when j.status = 'running' then 1 else 0 end,
          started_at = coalesce(started_at, now())
      from next
      where j.id = next.id
      returning j.id, j.kind, j.session_id as "sessionId", j.attempt`);
    return row === null ? undefined : { ...row, claimId };
  }

  /**
   * Renews a claim. Progress is 0..1 and never goes back. False when the job no longer belongs to
   * this claim.
   */
  async renew({ id, claimId }: ClaimedJob, progress: number, leaseMs: number): Promise<boolean> {
    const row = await this.#pool.maybeOne(sql.type(idRow)`
      update jobs
      set claimed_until = ${inMs(leaseMs)}, progress = greatest(progress, ${progress}::real)
      where id = ${id} and claim_id = ${claimId} and status = 'running'
      returning id`);
    return row !== null;
  }

  /** Returns the job for another attempt, or fails it after the last one. */
  async release({ id, claimId }: ClaimedJob, release: Release): Promise<void> {
    const { error, retryMs, counts } = release;
    await this.#pool.query(sql.unsafe`
      with over as (
        select ${counts} and attempt >= ${MAX_ATTEMPTS} as failed
        from jobs where id = ${id}
      )
      update jobs
      set status = case when over.failed then 'failed' else 'queued' end,
          error = case when over.failed then ${error} else '' end,
          completed_at = case when over.failed then now() end,
          attempt = attempt + case when ${counts} and not over.failed then 1 else 0 end,
          due_at = ${inMs(retryMs)}, claim_id = null, claimed_until = null
      from over
      where id = ${id} and claim_id = ${claimId} and status = 'running'`);
  }

  /** Ends the job for good without a result. */
  async end(
    { id, claimId }: ClaimedJob,
    status: "failed" | "cancelled",
    error: string,
  ): Promise<void> {
    await this.#pool.query(sql.unsafe`
      update jobs
      set status = ${status}, error = ${error}, completed_at = now(),
          claim_id = null, claimed_until = null
      where id = ${id} and claim_id = ${claimId} and status = 'running'`);
  }
}

function inMs(milliseconds: number) {
  return sql.fragment`now() + ${milliseconds} * interval '1 millisecond'`;
}
