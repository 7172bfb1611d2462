import type { CommonQueryMethods } from "slonik";

/**
 * Erases what was derived from a session's words and would go on telling them.
 * Returns how much of each kind went.
 */
export async function eraseDerived(
  _connection: CommonQueryMethods,
  _sessionId: string,
): Promise<Record<string, number>> {
  return {};
}
