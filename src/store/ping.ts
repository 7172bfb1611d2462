import { type DatabasePool, sql } from "slonik";

/** Resolves when the database answers, rejects when it does not. */
export async function pingDatabase(pool: DatabasePool): Promise<void> {
  await pool.query(sql.unsafe`select 1`);
}
