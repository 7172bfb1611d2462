import { type DatabasePool, sql } from "slonik";
import { z } from "zod";
import type { RevocationEvent } from "./revocations.ts";

const KINDS = ["user", "guest", "device", "service_key", "session", "workspace"] as const;

const endedRow = z.object({ kind: z.enum(KINDS), subject: z.string() });
const pollRow = z.object({
  snapshot: z.string(),
  server: z.number(),
  at: z.number(),
  ended: z.array(endedRow),
});

/** Rows that one statement deletes. */
const DROPPED = 5_000;

/**
 * Reads ended rights, which the triggers of the migration `ended_rights` record, in no particular
 * order.
 */
export class EndedRightsStore {
  readonly #pool: DatabasePool;
  #before: RecordedRevocations | undefined;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  /**
   * Returns rights that ended after `snapshot`, at most `most`. Rows with future transaction ids
   * are ignored: they were copied from another server.
   */
  async since(snapshot: string | undefined, most: number): Promise<RecordedRevocations> {
    const { ended, ...look } = await this.#pool.one(sql.type(pollRow)`
      select pg_current_snapshot()::text as snapshot, pg_postmaster_start_time() as server,
        clock_timestamp() as at, coalesce((
          select jsonb_agg(jsonb_build_object('kind', kind, 'subject', subject)) from (
            select kind, subject
            from ended_rights, cast(${snapshot ?? null} as pg_snapshot) as seen
            where xid >= pg_snapshot_xmin(seen)
              and xid < pg_snapshot_xmax(pg_current_snapshot())
              and not pg_visible_in_snapshot(xid, seen)
            limit ${most}) as news), '[]') as ended`);
    return { ...look, ended: ended.map(toEvent) };
  }

  /**
   * Deletes rows that were committed before the previous call, and returns how many: so a row stays
   * at least as long as the time between two calls.
   */
  async prune(): Promise<number> {
    const before = this.#before;
    const now = await this.since(undefined, 0);
    this.#before = now;
    if (before === undefined || before.server !== now.server) return 0;
    let dropped = 0;
    for (let batch = DROPPED; batch === DROPPED; dropped += batch) {
      batch = await this.#drop(before.snapshot);
    }
    return dropped;
  }

  async #drop(before: string): Promise<number> {
    const { rowCount } = await this.#pool.query(sql.unsafe`
      delete from ended_rights where ctid = any(array(
        select ctid from ended_rights, cast(${before} as pg_snapshot) as seen
        where xid < pg_snapshot_xmax(seen) and pg_visible_in_snapshot(xid, seen)
          or xid >= pg_snapshot_xmax(pg_current_snapshot())
        limit ${DROPPED}))`);
    return rowCount;
  }
}

function toEvent({ kind, subject }: z.infer<typeof endedRow>): RevocationEvent {
  switch (kind) {
    case "user":
      return { kind, userId: subject };
    case "guest":
      return { kind, guestId: subject };
    case "device":
      return { kind, deviceId: subject };
    case "service_key":
      return { kind, keyId: subject };
    case "session":
      return { kind, sessionId: subject };
    case "workspace":
      return { kind, workspaceId: subject };
  }
}

/** The result of a poll, from which the next one continues. */
export interface RecordedRevocations {
  /** The database snapshot of this look, for the next call of `since`. */
  snapshot: string;
  /**
   * Start time of the database server; after a restart another server may answer, with other
   * transaction ids.
   */
  server: number;
  /** Time of the poll by the database's clock, Unix milliseconds. */
  at: number;
  ended: readonly RevocationEvent[];
}
