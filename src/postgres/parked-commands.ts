import {
  type DatabasePool,
  type DatabaseTransactionConnection,
  type FragmentSqlToken,
  sql,
} from "slonik";
import { z } from "zod";
import { insertAuditEntry } from "../access/audit-entries-store.ts";
import type { AuditActor, AuditKind } from "../access/audit-entry.ts";
import type { Page, PageRequest } from "../rest/page.ts";
import { toPage } from "./columns.ts";

/** A command to a session's actor that failed so often that it is not tried again. */
export interface ParkedRecord {
  id: string;
  sessionId: string;
  type: string;
  attempts: number;
  /** Unix milliseconds. */
  createdAt: number;
  parkedAt: number;
  /** Why it failed, in one line; contains no words of a session. */
  reason: string;
}

/** Selects parked commands by id, or all. */
type ParkedChoice = { ids: readonly string[] } | "all";

const DROPPED = "An operator gave it up: its session could not take it.";

const parkedRow = z.object({
  id: z.string(),
  sessionId: z.string(),
  type: z.string(),
  attempts: z.number(),
  createdAt: z.number(),
  parkedAt: z.number(),
  reason: z.string(),
});
const touchedRow = z.object({ id: z.string(), sessionId: z.string(), type: z.string() });
type Touched = z.output<typeof touchedRow>;

/** SQL that fails the chunks that the commands in the table `dropped` were about. */
type FailChunks = (dropped: FragmentSqlToken, error: string) => FragmentSqlToken;

/**
 * Parked commands: commands of the outbox that are not tried again. `retry` and `drop` write audit
 * entries in the same transaction and return how many commands they found.
 */
export class ParkedCommandStore {
  readonly #pool: DatabasePool;
  readonly #failChunksOf: FailChunks;

  constructor(pool: DatabasePool, failChunksOf: FailChunks) {
    this.#pool = pool;
    this.#failChunksOf = failChunksOf;
  }

  async list({ limit, after }: PageRequest): Promise<Page<ParkedRecord>> {
    const older = after === undefined ? sql.fragment`` : sql.fragment`and id < ${after}`;
    const rows = await this.#pool.any(sql.type(parkedRow)`
      select id, session_id as "sessionId", command ->> 'type' as type, attempts,
        created_at as "createdAt", parked_at as "parkedAt",
        coalesce(parked_reason, '') as reason
      from outbox
      where parked_at is not null ${older}
      order by id desc limit ${limit + 1}`);
    return toPage(rows, limit, ({ id }) => id);
  }

  /** Makes the commands new again, so they are tried within seconds. */
  retry(choice: ParkedChoice, actor: AuditActor): Promise<number> {
    return this.#touch(async (tx) => {
      const rows = await tx.any(sql.type(touchedRow)`
        update outbox
        set parked_at = null, parked_reason = null, attempts = 0, not_before = now()
        where parked_at is not null ${chosen(choice)}
        returning ${TOUCHED}`);
      if (choice !== "all") await record(tx, "command_retried", rows, actor);
      else if (rows.length > 0) {
        const detail = { all: true, count: rows.length };
        await insertAuditEntry(tx, { kind: "command_retried", actor, detail });
      }
      return rows.length;
    });
  }

  /** Discards the commands. A chunk whose session never received it is marked as failed. */
  drop(ids: readonly string[], actor: AuditActor): Promise<number> {
    return this.#touch(async (tx) => {
      const rows = await tx.any(sql.type(touchedRow)`
        with dropped as (
          delete from outbox where parked_at is not null ${chosen({ ids })}
          returning id, session_id, command
        ), lost as (
          ${this.#failChunksOf(sql.fragment`dropped`, DROPPED)}
        )
        select ${TOUCHED} from dropped`);
      await record(tx, "command_dropped", rows, actor);
      return rows.length;
    });
  }

  #touch(work: (tx: DatabaseTransactionConnection) => Promise<number>): Promise<number> {
    return this.#pool.transaction(work);
  }
}

const TOUCHED = sql.fragment`id, session_id as "sessionId", command ->> 'type' as type`;

function chosen(choice: ParkedChoice): FragmentSqlToken {
  if (choice === "all") return sql.fragment``;
  return sql.fragment`and id = any(${sql.array([...choice.ids], "uuid")})`;
}

/** Writes one audit entry for each command. */
async function record(
  tx: DatabaseTransactionConnection,
  kind: AuditKind,
  rows: readonly Touched[],
  actor: AuditActor,
): Promise<void> {
  for (const { id, sessionId, type } of rows) {
    await insertAuditEntry(tx, { kind, actor, sessionId, subjectId: id, detail: { type } });
  }
}
