import { type CommonQueryMethods, sql } from "slonik";
import { eraseGraph } from "../graph/graph-builds-store.ts";

/**
 * Erases what was derived from a session's words and would go on telling them.
 * Returns how much of each kind went.
 */
export async function eraseDerived(
  connection: CommonQueryMethods,
  sessionId: string,
): Promise<Record<string, number>> {
  const { rowCount: summaries } = await connection.query(sql.unsafe`
    delete from summaries where session_id = ${sessionId}`);
  return { summaries, graphs: await eraseGraph(connection, sessionId) };
}
