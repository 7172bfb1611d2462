import { type DatabasePool, sql } from "slonik";
import { z } from "zod";
import type { RevocationEvent } from "./revocations.ts";

const KINDS = ["user", "guest", "device", "service_key", "session", "workspace"] as const;

const endedRow = z.object({ kind: z.enum(KINDS), subject: z.string() });
const lookRow = z.object({
  snapshot: z.string(),
  server: z.number(),
  at: z.number(),
  ended: z.array(endedRow),
});

/** Rows that one statement drops. */
const DROPPED = 5_000;

/**
 * What the triggers of the migration `ended_rights` note.
 *
 * What ended rights, in the order of nothing.
 */
export class EndedRightsStore {
  readonly #pool: DatabasePool;
  #before: RecordedRevocations | undefined;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  /** Numbers that are yet to come are of another server, from which this data was copied. */
  async since(snapshot: string | undefined, most: number): Promise<RecordedRevocations> {
    const { ended, ...look } = await this.#pool.one(sql.type(lookRow)`
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
   * Drops what was committed before this was last called, and returns how much that was: a row
   * stays at least as long as the time between two calls.
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

/** What a look at the record found, and where the next one goes on. */
export interface RecordedRevocations {
  /** What the look could see, for `RevocationRecord.since`. */
  snapshot: string;
  /** Which run of the database's server answered: another one may count from elsewhere. */
  server: number;
  /** When, by the database's clock, Unix milliseconds. */
  at: number;
  ended: readonly RevocationEvent[];
}
