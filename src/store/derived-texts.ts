import type { CommonQueryMethods } from "slonik";
import { eraseGraph } from "./graph-builds.ts";

/**
 * Erases what was derived from a session's words and would go on telling them.
 * Returns how much of each kind went.
 */
export async function eraseDerived(
  connection: CommonQueryMethods,
  sessionId: string,
): Promise<Record<string, number>> {
  return { graphs: await eraseGraph(connection, sessionId) };
}
