import { type CommonQueryMethods, type DatabasePool, type FragmentSqlToken, sql } from "slonik";
import { z } from "zod";
import type {
  ActiveSession,
  Backlog,
  BacklogCommand,
  CommandQueue,
  Ended,
  FailedDelivery,
  ParkedCommand,
  PartitionCursor,
  QueueCursor,
  WorkingSession,
} from "../actor/backlog.ts";
import { MOST_ATTEMPTS, OPEN_WORK_PAGE, QUEUE_HEAD, QUEUES_PAGE } from "../base/backlog-limits.ts";
import { newId } from "../base/ids.ts";
import { partitionOf } from "../base/partition.ts";
import type { OutsideCommand } from "../session/outside-command.ts";
import { isWaiting, type WaitingWorkStore } from "./waiting-work.ts";

const nothing = z.object({}).strict();

/** Makes the outbox row of a command to a session's actor; the row's id is the command's id. */
export function outboxRow(sessionId: string, command: OutsideCommand, id = newId()): OutboxRow {
  return { id, sessionId, command };
}

/** Writes the command in the transaction that makes it due. */
export async function writeOutbox(connection: CommonQueryMethods, row: OutboxRow): Promise<void> {
  await connection.query(sql.type(nothing)`
    insert into outbox (id, session_id, command)
    values (${row.id}, ${row.sessionId}, ${JSON.stringify(row.command)}::jsonb)
  `);
}

/** A committed command that waits to be delivered; `id` is the command's permanent id. */
export interface OutboxRow {
  id: string;
  sessionId: string;
  /** The command; contains ids and numbers only. */
  command: OutsideCommand;
}

/**
 * Notified of outbox rows right after their commit, so that they are delivered at once. Best effort
 * and at most once: a sweep delivers what is lost here. Never throws and never delays its caller.
 */
export interface CommandNotifier {
  notify(rows: readonly OutboxRow[]): void;
}

const standingRow = z.object({ id: z.string(), epoch: z.number(), isDeleted: z.boolean() });
const command = z.object({ type: z.string() }).passthrough();
const commandRow = z.object({ id: z.string(), sessionId: z.string(), command });
const partitionRow = z.object({ partition: z.number() });
const workRow = z.object({ partition: z.number(), sessionId: z.string() });
const queueRow = workRow.extend({ commands: z.array(z.object({ id: z.string(), command })) });
const parkedRow = z.object({ id: z.string(), type: z.string() });

/** Half the capacity of an actor's mailbox. */
const MOST_AT_ONCE = 500;
/** Longest wait before a failed command is tried again, seconds. */
const LONGEST_REST = 256;
const BEFORE_ALL = "00000000-0000-0000-0000-000000000000";

/**
 * Reads unfinished work of sessions: those marked with open work, and the commands in the outbox.
 */
export class SessionBacklog implements Backlog {
  readonly #pool: DatabasePool;
  readonly #pendingWork: WaitingWorkStore | undefined;

  /** @param pendingWork skips the query when it knows of no waiting command */
  constructor(pool: DatabasePool, pendingWork?: WaitingWorkStore) {
    this.#pool = pool;
    this.#pendingWork = pendingWork;
  }

  async openWork(places: readonly PartitionCursor[]): Promise<WorkingSession[]> {
    const rows = places.map(({ partition, after }) => [partition, after ?? BEFORE_ALL]);
    return [
      ...(await this.#pool.any(sql.type(workRow)`
        select p.partition, s.id as "sessionId"
        from ${sql.unnest(rows, ["int2", "uuid"])} as p (partition, after)
        cross join lateral (
          select id from sessions
          where partition_of(id) = p.partition and id > p.after and has_work
          order by id limit ${OPEN_WORK_PAGE}
        ) as s
        order by 1, 2`)),
    ];
  }

  async ended(active: readonly ActiveSession[]): Promise<Ended[]> {
    const ids = active.map(({ id }) => id);
    // Each by the index: some dozens among a thousand sessions would have their whole table read.
    const rows = await this.#pool.any(sql.type(standingRow)`
      select s.id, s.epoch, s.status = 'deleted' as "isDeleted"
      from unnest(${sql.array(ids, "uuid")}) as active (id)
      cross join lateral (
        select id, epoch, status from sessions where id = active.id limit 1
      ) as s`);
    const known = new Map(rows.map((row) => [row.id, row]));
    return active.flatMap(({ id, epoch }) => {
      const row = known.get(id);
      const isDeleted = row?.isDeleted ?? true;
      return isDeleted || row?.epoch !== epoch ? [{ id, isDeleted }] : [];
    });
  }

  async waiting(): Promise<number[]> {
    if (!(await isWaiting(this.#pendingWork, "commands"))) return [];
    // Goes from partition to partition by the index, however many commands lie between.
    const rows = await this.#pool.any(sql.type(partitionRow)`
      with recursive waiting as (
        ${nextPartition(sql.fragment`-1`)}
        union all
        select next.partition from waiting w cross join lateral
          ${nextPartition(sql.fragment`w.partition`)} as next
      )
      select partition from waiting`);
    return rows.map(({ partition }) => partition);
  }

  /** Goes from session to session by the index, however many commands lie between. */
  async queues(places: readonly QueueCursor[]): Promise<CommandQueue[]> {
    const rows = places.map(({ partition, after, olderThan }) => [
      partition,
      after ?? BEFORE_ALL,
      olderThan,
    ]);
    const found = await this.#pool.any(sql.type(queueRow)`
      with recursive queues as (
        select p.partition, p.older_than, 1 as nth, first.session_id
        from ${sql.unnest(rows, ["int2", "uuid", "float8"])}
          as p (partition, after, older_than)
        cross join lateral (${nextQueue(sql.fragment`p.partition`, sql.fragment`p.after`)}) as first
        union all
        select q.partition, q.older_than, q.nth + 1, next.session_id
        from queues q cross join lateral (
          ${nextQueue(sql.fragment`q.partition`, sql.fragment`q.session_id`)}) as next
        where q.nth < ${QUEUES_PAGE}
      )
      select q.partition, q.session_id as "sessionId", head.commands
      from queues q cross join lateral (
        select coalesce(
          json_agg(json_build_object('id', due.id, 'command', due.command)
            order by due.not_before, due.id), '[]') as commands
        from (
          select o.id, o.command, o.not_before from outbox o
          where partition_of(o.session_id) = q.partition and o.session_id = q.session_id
            and o.parked_at is null
            and o.not_before <= now() - q.older_than * interval '1 millisecond'
          order by o.not_before limit ${QUEUE_HEAD}
        ) as due
      ) as head
      order by 1, 2`);
    return found.map((queue) => ({
      ...queue,
      commands: queue.commands.map((each) => ({ ...each, sessionId: queue.sessionId })),
    }));
  }

  async commandsTo(sessionId: string): Promise<BacklogCommand[]> {
    return [
      ...(await this.#pool.any(sql.type(commandRow)`
        select id, session_id as "sessionId", command from outbox
        where partition_of(session_id) = ${partitionOf(sessionId)} and session_id = ${sessionId}
          and parked_at is null
        order by not_before, id limit ${MOST_AT_ONCE}`)),
    ];
  }

  async failed({ sessionId, ids, reason }: FailedDelivery): Promise<ParkedCommand[]> {
    const these =
      ids === undefined
        ? sql.fragment``
        : sql.fragment`and id = any(${sql.array([...ids], "uuid")})`;
    const isLast = sql.fragment`attempts + 1 >= ${MOST_ATTEMPTS}`;
    return [
      ...(await this.#pool.any(sql.type(parkedRow)`
        with refused as (
          update outbox
          set attempts = attempts + 1,
              not_before =
                now() + least(${LONGEST_REST}, power(2, attempts)) * interval '1 second',
              parked_at = case when ${isLast} then now() end,
              parked_reason = case when ${isLast} then ${reason} end
          where partition_of(session_id) = ${partitionOf(sessionId)} and session_id = ${sessionId}
            and parked_at is null ${these}
          returning id, command ->> 'type' as type, parked_at
        )
        select id, type from refused where parked_at is not null`)),
    ];
  }
}

/** SQL for the next partition after `after` that has waiting commands. */
export function nextPartition(after: FragmentSqlToken): FragmentSqlToken {
  return sql.fragment`(
    select partition_of(o.session_id) as partition from outbox o
    where partition_of(o.session_id) > ${after} and o.parked_at is null
    order by partition_of(o.session_id) limit 1)`;
}

/** SQL for the next session of a partition after `after` that has waiting commands. */
function nextQueue(partition: FragmentSqlToken, after: FragmentSqlToken): FragmentSqlToken {
  return sql.fragment`
    select o.session_id from outbox o
    where partition_of(o.session_id) = ${partition} and o.session_id > ${after}
      and o.parked_at is null
    order by o.session_id limit 1`;
}

/** For whoever deletes a session. */
export async function dropCommands(tx: CommonQueryMethods, { id }: { id: string }): Promise<void> {
  await tx.query(sql.unsafe`delete from outbox where session_id = ${id}`);
}

/** SQL that takes commands out which an append carries out, where `when` holds. */
export function finishCommands(ids: readonly string[], when: FragmentSqlToken): FragmentSqlToken {
  return sql.fragment`
    delete from outbox where id = any(${sql.array([...ids], "uuid")}) and ${when}`;
}
