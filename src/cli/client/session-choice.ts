import { CommandFailure } from "./command-context.ts";
import { EXIT } from "./exit-codes.ts";
import type { UserSession } from "./user-session.ts";

/** What an argument that names a session may be, for help texts. */
export const SESSION_ARGUMENT = "id of the session, or `last` for your newest";

/** The id of the session that an argument names: an id, or `last` for the newest one. */
export async function sessionIdOf(user: UserSession, given: string): Promise<string> {
  if (given !== "last") return given;
  const params = { query: { limit: 1 } };
  const { items } = await user.call((client) => client.GET("/sessions", { params }));
  const [newest] = items;
  if (newest !== undefined) return newest.id;
  throw new CommandFailure("there is no session yet", undefined, EXIT.missing);
}
