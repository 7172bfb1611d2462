import { type DatabasePool, sql } from "slonik";
import { z } from "zod";
import type { SessionErasure } from "../erasure/session-erasure.ts";

const idRow = z.object({ id: z.string() });
const PAGE = 100;

/** Finds sessions that were not to be kept, and were left by a process that ended. */
export class CompatLeftovers {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  /** Ids of those that ended longer ago than their call takes to read them. */
  async ended(limit: number): Promise<string[]> {
    const rows = await this.#pool.any(sql.type(idRow)`
      select id from sessions
      where delete_at_end and status in ('completed', 'failed')
        and updated_at < now() - interval '5 minutes'
      order by updated_at limit ${limit}`);
    return rows.map(({ id }) => id);
  }
}

/** Deletes them; returns how many. */
export async function deleteLeftovers(
  leftovers: CompatLeftovers,
  sessions: Pick<SessionErasure, "erase">,
): Promise<number> {
  const ended = await leftovers.ended(PAGE);
  for (const id of ended) {
    await sessions.erase(id, "session_deleted_by_owner", { kind: "system" });
  }
  return ended.length;
}
