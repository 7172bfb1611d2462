import { ApiFailure } from "./api-client.ts";
import { objectsField, stringField } from "./json-field.ts";
import type { UserSession } from "./user-session.ts";

const NAME = "Simulated devices";

/** The workspace a device joins: the given one, else the user's first, else a new one. */
export async function chooseWorkspace(user: UserSession, given?: string): Promise<string> {
  if (given) return given;
  const first = await firstWorkspace(user);
  if (first !== undefined) return first;
  const json = { name: NAME, preferred_language: "en" };
  return stringField(await user.call({ method: "POST", path: "/workspaces", json }), "id");
}

async function firstWorkspace(user: UserSession): Promise<string | undefined> {
  try {
    const answer = await user.call({ method: "GET", path: "/workspaces?limit=1" });
    const [workspace] = objectsField(answer, "items");
    return workspace && stringField(workspace, "id");
  } catch (error) {
    // A service without this list still pairs devices.
    if (error instanceof ApiFailure && (error.status === 404 || error.status === 405)) {
      return undefined;
    }
    throw error;
  }
}
