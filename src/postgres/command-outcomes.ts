import { type CommonQueryMethods, type DatabasePool, type FragmentSqlToken, sql } from "slonik";
import { z } from "zod";
import type { CommandFate, CommandOutcome, CommandRecord, Outcome } from "../actor/journal.ts";
import type { Change } from "./append-work.ts";

/**
 * Callers may repeat a command with its key for a day, so outcomes are kept a little longer; the
 * transport forgets commands within an hour.
 */
const KEPT = "25 hours";
const MOST = 4_096;

/**
 * SQL for the session's outcomes (`CommandOutcome`), the oldest first, as one JSON array;
 * `sessionId` is an expression.
 */
export function knownOutcomes(sessionId: FragmentSqlToken): FragmentSqlToken {
  return sql.fragment`
    select coalesce(
      json_agg(json_build_object('commandId', command_id, 'outcome', outcome)
        order by at, command_id), '[]')
    from (
      select command_id, outcome, at from command_outcomes
      where session_id = ${sessionId} and at > now() - ${KEPT}::interval
      order by at desc, command_id desc limit ${MOST}
    ) as newest`;
}

/** Stores new outcomes and deletes old ones of the session; known outcomes stay unchanged. */
export function outcomeChanges(sessionId: string, outcomes: readonly CommandOutcome[]): Change[] {
  if (outcomes.length === 0) return [];
  const rows = outcomes.map(({ commandId, outcome }) => [commandId, JSON.stringify(outcome)]);
  return [
    {
      writes: ["command_outcomes, old"],
      sql: (when) => sql.fragment`
        delete from command_outcomes
        where session_id = ${sessionId} and at <= now() - ${KEPT}::interval and ${when}`,
    },
    {
      writes: ["command_outcomes"],
      sql: (when) => sql.fragment`
        insert into command_outcomes (session_id, command_id, outcome)
        select ${sessionId}::uuid, o.id, o.outcome
        from ${sql.unnest(rows, ["uuid", "jsonb"])} as o (id, outcome)
        where ${when}
        on conflict do nothing`,
    },
  ];
}

const nowRow = z.object({ now: z.number() });
const outcome = z.custom<Outcome | null>((value) => typeof value === "object");
const outcomeRow = z.object({ outcome });
const fateRow = z.object({ outcome, isOver: z.boolean() });

/** Longest wait for the lock, because a caller waits for the answer. */
const LOCK_TIMEOUT = "2s";

/** Outcomes of commands in PostgreSQL. */
export class PostgresCommandRecord implements CommandRecord {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  async now(): Promise<number> {
    const { now } = await this.#pool.one(sql.type(nowRow)`select clock_timestamp() as now`);
    return now;
  }

  async fate(sessionId: string, commandId: string, deadline: number): Promise<CommandFate> {
    const known = outcomeOf(sessionId, commandId);
    const found = await this.#pool.one(sql.type(outcomeRow)`select (${known}) as outcome`);
    if (found.outcome !== null) return { outcome: found.outcome, isOver: false };
    return this.#pool.transaction(async (tx) => {
      await tx.query(sql.unsafe`select set_config('lock_timeout', ${LOCK_TIMEOUT}, true)`);
      // Every append holds this row's lock until it is committed, and checks the deadline under it.
      await tx.query(sql.unsafe`select from sessions where id = ${sessionId} for share`);
      const fate = await tx.one(sql.type(fateRow)`
        select (${known}) as outcome,
          clock_timestamp() > to_timestamp(${deadline}::double precision / 1000) as "isOver"`);
      return { ...fate, outcome: fate.outcome ?? undefined };
    }, 0);
  }
}

function outcomeOf(sessionId: string, commandId: string): FragmentSqlToken {
  return sql.fragment`
    select outcome from command_outcomes
    where session_id = ${sessionId} and command_id = ${commandId}`;
}

/** For whoever deletes a session. */
export async function eraseOutcomes(tx: CommonQueryMethods, { id }: { id: string }): Promise<void> {
  await tx.query(sql.unsafe`delete from command_outcomes where session_id = ${id}`);
}
