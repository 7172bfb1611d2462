import { type DatabasePool, sql } from "slonik";
import { z } from "zod";
import type { RetentionRecords } from "./session-erasure.ts";

/** What has been kept long enough. */
export class PostgresRetention implements RetentionRecords {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  async expired(limit: number): Promise<string[]> {
    const rows = await this.#pool.any(sql.type(z.object({ id: z.string() }))`
      select s.id
      from workspaces w join sessions s on s.workspace_id = w.id
      where w.retention_days is not null and s.status in ('processing', 'completed', 'failed')
        and coalesce(s.stopped_at, s.started_at) < now() - make_interval(days => w.retention_days)
      order by s.id limit ${limit}`);
    return rows.map(({ id }) => id);
  }

  /** Edits whose session never took them; their text must not stay. */
  async dropStaleEdits(): Promise<number> {
    const { rowCount } = await this.#pool.query(sql.unsafe`
      delete from segment_edits where created_at < now() - interval '1 hour'`);
    return rowCount;
  }
}
