import { type DatabasePool, sql } from "slonik";
import { z } from "zod";
import type { LiveSessionRecord, QueueRecord } from "../../actor/overview-source.ts";
import { optionalColumn } from "../../postgres/optional-column.ts";

/** Most commands that are counted. */
const MOST_COMMANDS = 1_000_000;

const outboxRow = z.object({
  waiting: z.number(),
  oldestAt: optionalColumn(z.number()),
  parked: z.number(),
  parkedSince: optionalColumn(z.number()),
  sessionIds: z.array(z.string()),
});
const jobsRow = z.object({ kind: z.string(), queued: z.number(), running: z.number() });
const countRow = z.object({ count: z.number() });
const partitionRow = z.object({ partition: z.number(), count: z.number() });
const statusRow = z.object({ status: z.string(), count: z.number() });
const failedRow = z.object({ failures: z.number(), accounts: z.number() });
const liveRow = z.object({
  id: z.string(),
  workspaceId: z.string(),
  seq: z.number(),
  startedAt: z.number(),
  partition: z.number(),
  pendingChunks: z.number(),
  lagMs: z.number(),
});

/**
 * Counts and ids of current work, read from the tables that the work itself uses; no titles, names
 * or words. Throws `unavailable` when storage is away.
 */
export class OverviewStore {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  async queues(): Promise<QueueRecord> {
    const outbox = await this.#pool.one(sql.type(outboxRow)`
      select waiting, oldest_at as "oldestAt", parked, parked_since as "parkedSince",
        parked_sessions as "sessionIds"
      from outbox_figures(${MOST_COMMANDS})`);
    const jobs = await this.#pool.any(sql.type(jobsRow)`
      select kind,
        count(*) filter (where status = 'queued')::int as queued,
        count(*) filter (where status = 'running')::int as running
      from jobs where status in ('queued', 'running') group by kind`);
    const chunksPending = await this.#pool.oneFirst(sql.type(countRow)`
      select count(*)::int as count
      from sessions s join chunks c on c.session_id = s.id
      where s.status in ('recording', 'processing') and c.status in ('pending', 'processing')`);
    const webhooksDue = await this.#pool.oneFirst(sql.type(countRow)`
      select count(*)::int as count
      from webhook_deliveries d join webhooks w on w.id = d.webhook_id
      where d.status = 'pending' and d.next_attempt_at <= now() and w.enabled`);
    return { ...toQueues(outbox), jobs: [...jobs], chunksPending, webhooksDue };
  }

  /** Sign-ins that failed in this hour, and at how many accounts; unknown ones count as one. */
  async failedSignIns(): Promise<{ failures: number; accounts: number }> {
    return this.#pool.one(sql.type(failedRow)`
      select coalesce(sum(failures), 0)::int as failures,
        count(distinct account_id)::int as accounts
      from failed_sign_ins where hour = date_trunc('hour', now())`);
  }

  async sessionsByStatus(): Promise<Record<string, number>> {
    const rows = await this.#pool.any(sql.type(statusRow)`
      select status, count(*)::int as count from sessions group by status`);
    return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
  }

  /** Unfinished sessions by partition; partitions without any are left out. */
  async unfinishedByPartition(): Promise<Map<number, number>> {
    const rows = await this.#pool.any(sql.type(partitionRow)`
      select partition_of(id) as partition, count(*)::int as count from sessions
      where status in ('recording', 'processing') group by partition_of(id)`);
    return new Map(rows.map(({ partition, count }) => [partition, count]));
  }

  /** Sessions that are recording, newest first. */
  async recording(limit: number): Promise<LiveSessionRecord[]> {
    return [
      ...(await this.#pool.any(sql.type(liveRow)`
        select s.id, s.workspace_id as "workspaceId", s.seq, s.started_at as "startedAt",
          partition_of(s.id) as partition, waiting.count as "pendingChunks",
          case when waiting.count = 0 then 0 else session_lag_ms(s.id) end as "lagMs"
        from sessions s cross join lateral (
          select count(*)::int as count from chunks c
          where c.session_id = s.id and c.status in ('pending', 'processing')
        ) as waiting
        where s.status = 'recording'
        order by s.id desc limit ${limit}`)),
    ];
  }
}

function toQueues(row: z.output<typeof outboxRow>): Pick<QueueRecord, "outbox" | "parked"> {
  const { waiting, oldestAt, parked, parkedSince, sessionIds } = row;
  return {
    outbox: { count: waiting, oldestAt },
    parked: { count: parked, oldestAt: parkedSince, sessionIds },
  };
}
