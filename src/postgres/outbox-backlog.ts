import { type DatabasePool, sql } from "slonik";
import { z } from "zod";
import { AppError } from "../base/errors.ts";
import { partitionOf } from "../base/partition.ts";
import type { QueueFigures, QueueOwner } from "../base/queue-metrics.ts";
import type { PeriodicWork } from "../base/work/periodic-task.ts";
import { nextPartition } from "./outbox.ts";
import { isWaiting, type WaitingWorkStore } from "./waiting-work.ts";

const EVERY_MS = 2_000;
const MOST_EVERY_MS = 10_000;
const RETRY_AFTER = 5;
/** Most sessions over their limit that are remembered. */
const MOST_FULL = 10_000;

/** Numbers of waiting commands from which more audio is refused. */
interface OutboxLimits {
  /** Limit of one session: some hours of audio that came at once. */
  session: number;
  /** Limit of all sessions of one partition together. */
  partition: number;
}

const figuresRow = z.object({
  longest: z.number(),
  partitions: z.array(z.number()),
  sessions: z.array(z.string()),
  parked: z.number(),
  oldestParkedSeconds: z.number(),
});

type Figures = z.output<typeof figuresRow>;

const EMPTY: Figures = {
  longest: 0,
  partitions: [],
  sessions: [],
  parked: 0,
  oldestParkedSeconds: 0,
};

/**
 * Counts committed commands that no actor has carried out yet, every 2 s, and refuses more audio
 * beyond the limits. Devices keep refused audio, so their memory is the queue. There are limits per
 * session and per partition, so that a stuck one affects no others. Parked commands do not count.
 * Checks answer at once from the latest counts, and admit everything before the first count.
 */
export class OutboxBacklog implements QueueOwner {
  readonly #pool: DatabasePool;
  readonly #limits: OutboxLimits;
  readonly #pendingWork: WaitingWorkStore | undefined;
  #figures = EMPTY;
  #full = { partitions: new Set<number>(), sessions: new Set<string>() };
  #refused = 0;

  /** @param pendingWork skips the queries when it knows of no waiting or parked command */
  constructor(pool: DatabasePool, limits: OutboxLimits, pendingWork?: WaitingWorkStore) {
    this.#pool = pool;
    this.#limits = limits;
    this.#pendingWork = pendingWork;
  }

  readonly task: PeriodicWork = {
    every: EVERY_MS,
    mostEvery: MOST_EVERY_MS,
    trouble: "outbox not readable",
    run: () => this.count(),
  };

  get queues(): readonly QueueFigures[] {
    return [
      {
        queue: "outbox",
        length: this.#figures.longest,
        limit: this.#limits.partition,
        refused: this.#refused,
      },
    ];
  }

  /** Parked commands, which are not tried again; counted up to the limit of a partition. */
  get parked(): { count: number; oldestSeconds: number } {
    const { parked: count, oldestParkedSeconds: oldestSeconds } = this.#figures;
    return { count, oldestSeconds };
  }

  /**
   * Throws `overloaded` with `Retry-After` while too many commands of the session or its partition
   * wait.
   */
  check(sessionId: string): void {
    const { partitions, sessions } = this.#full;
    if (!sessions.has(sessionId) && !partitions.has(partitionOf(sessionId))) return;
    this.#refused += 1;
    throw new AppError("overloaded", "More audio came than can be worked off. Please wait.", {
      retryAfter: RETRY_AFTER,
    });
  }

  async count(): Promise<void> {
    this.#figures = await this.#read();
    const { partitions, sessions } = this.#figures;
    this.#full = { partitions: new Set(partitions), sessions: new Set(sessions) };
  }

  /** Goes from partition to partition by the index, and counts no further than the limits. */
  async #read(): Promise<Figures> {
    const { session, partition } = this.#limits;
    if (!(await isWaiting(this.#pendingWork, "commands", "parked"))) return EMPTY;
    return this.#pool.one(sql.type(figuresRow)`
      with recursive filled as (
        ${nextPartition(sql.fragment`-1`)}
        union all
        select next.partition from filled f cross join lateral
          ${nextPartition(sql.fragment`f.partition`)} as next
      ), counted as (
        select f.partition, (
          select count(*) from (
            select from outbox o
            where partition_of(o.session_id) = f.partition and o.parked_at is null
            limit ${partition + 1}) as first)::int as waiting
        from filled f
      ), full_sessions as (
        select own.session_id from counted c cross join lateral (
          select o.session_id from outbox o
          where partition_of(o.session_id) = c.partition and o.parked_at is null
          group by o.session_id having count(*) > ${session}) as own
        where c.waiting > ${session} limit ${MOST_FULL}
      )
      select aside.parked, coalesce(max(c.waiting), 0) as longest,
        coalesce(array_agg(c.partition) filter (where c.waiting > ${partition}), '{}') as partitions,
        array(select session_id from full_sessions) as sessions,
        coalesce(extract(epoch from now() - aside.parked_since), 0)::float8
          as "oldestParkedSeconds"
      from outbox_figures(${partition + 1}) as aside left join counted c on true
      group by aside.parked, aside.parked_since`);
  }
}
