import { ApiFailure } from "./api-client.ts";
import type { UserSession } from "./user-session.ts";

const NAME = "Simulated devices";

/** The workspace a device joins: the given one, else the user's first, else a new one. */
export async function chooseWorkspace(user: UserSession, given?: string): Promise<string> {
  if (given) return given;
  const first = await firstWorkspace(user);
  if (first !== undefined) return first;
  const body = { name: NAME, preferred_language: "en" };
  return (await user.call((client) => client.POST("/workspaces", { body }))).id;
}

async function firstWorkspace(user: UserSession): Promise<string | undefined> {
  try {
    const params = { query: { limit: 1 } };
    const { items } = await user.call((client) => client.GET("/workspaces", { params }));
    return items[0]?.id;
  } catch (error) {
    // A service without this list still pairs devices.
    if (error instanceof ApiFailure && (error.status === 404 || error.status === 405)) {
      return undefined;
    }
    throw error;
  }
}
