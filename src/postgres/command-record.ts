import { type DatabasePool, type FragmentSqlToken, sql } from "slonik";
import { z } from "zod";
import type { CommandFate, CommandRecord } from "../actor/command-record.ts";
import type { Outcome } from "../actor/outcomes.ts";

const nowRow = z.object({ now: z.number() });
const outcome = z.custom<Outcome | null>((value) => typeof value === "object");
const outcomeRow = z.object({ outcome });
const fateRow = z.object({ outcome, isOver: z.boolean() });

/** Asked for at most so long, as somebody waits. */
const LOCK_TIMEOUT = "2s";

/** The commands' outcomes in PostgreSQL. */
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
      // Every append has this row until it is through, and looks at the time when it has it.
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
