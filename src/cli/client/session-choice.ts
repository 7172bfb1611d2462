import { CommandFailure } from "./command-context.ts";
import { EXIT } from "./exit-codes.ts";
import type { UserSession } from "./user-session.ts";

/** What an argument that names a session may be, for help texts. */
export const SESSION_ARGUMENT = "id of the session, or `last` for your newest";

/** An administrator's newest is looked for among so many of everybody's. */
const MOST_LISTED = 100;

/** The id of the session that an argument names: an id, or `last` for the newest one. */
export async function sessionIdOf(user: UserSession, given: string): Promise<string> {
  if (given !== "last") return given;
  const me = await user.call((client) => client.GET("/auth/me"));
  // The list of an administrator holds everybody's sessions, whose words are closed to them.
  const isAdmin = me.role === "admin";
  const params = { query: { limit: isAdmin ? MOST_LISTED : 1 } };
  const { items } = await user.call((client) => client.GET("/sessions", { params }));
  const newest = isAdmin ? items.find(({ owner_id }) => owner_id === me.id) : items[0];
  if (newest !== undefined) return newest.id;
  const whose = isAdmin ? "no session of yours among the newest" : "no session yet";
  throw new CommandFailure(`there is ${whose}`, undefined, EXIT.missing);
}
