import { type DatabasePool, sql } from "slonik";
import { z } from "zod";
import type { WorkList } from "../base/work/work-list.ts";
import type { SessionErasure } from "../conversations/erasure/session-erasure.ts";

const idRow = z.object({ id: z.string() });

/** Finds sessions that were not to be kept, and were left by a process that ended. */
export class CompatLeftovers {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  /** Ids of those, but `except`, that ended longer ago than their call takes to read them. */
  async ended(limit: number, except: readonly string[] = []): Promise<string[]> {
    const rows = await this.#pool.any(sql.type(idRow)`
      select id from sessions
      where delete_at_end and status in ('completed', 'failed')
        and updated_at < now() - interval '5 minutes'
        and id <> all(${sql.array(except, "uuid")})
      order by updated_at limit ${limit}`);
    return rows.map(({ id }) => id);
  }
}

/** The work of deleting them. */
export function leftoversList(
  leftovers: CompatLeftovers,
  sessions: SessionErasure,
): WorkList<string> {
  return sessions.list({
    read: (limit, except) => leftovers.ended(limit, except),
    work: (id) => sessions.erase(id, "session_deleted_by_owner", { kind: "system" }),
  });
}
