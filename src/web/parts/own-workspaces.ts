import { ApiError } from "../../client/errors.ts";
import { account } from "../api/account.ts";
import { call } from "../api/client.ts";
import type { Workspace } from "../api/records.ts";

const MOST_NAME = 200;
/** Asked by several parts of the page at once, only one workspace is made. */
const asked = new Map<string, Promise<readonly Workspace[]>>();

/**
 * The workspaces of whoever is signed in, newest first. Who has none gets one of their own, so that
 * nobody stands before a first step that cannot be taken. Rejects with a sentence that says whom to
 * ask where the service lets them make none.
 */
export function ownWorkspaces(): Promise<readonly Workspace[]> {
  const id = account.value?.id ?? "";
  const underWay = asked.get(id);
  if (underWay !== undefined) return underWay;
  const asking = findOrMake().finally(() => asked.delete(id));
  asked.set(id, asking);
  return asking;
}

/** The workspace to put something new into: `chosen`, or else the newest one. */
export async function ownWorkspace(chosen: string): Promise<string> {
  if (chosen !== "") return chosen;
  const [first] = await ownWorkspaces();
  if (first === undefined) throw new Error(ASK);
  return first.id;
}

const ASK =
  "You belong to no workspace, and may not make one. Ask an administrator to invite you to one.";
const ASK_FOR_ROOM =
  "You belong to no workspace, and may make no more of them. Ask a colleague to invite you to theirs.";

async function findOrMake(): Promise<readonly Workspace[]> {
  const query = { limit: 100 };
  const { items } = await call((api) => api.GET("/workspaces", { params: { query } }));
  if (items.length > 0) return items;
  try {
    const body = { name: await firstName() };
    return [await call((api) => api.POST("/workspaces", { body }))];
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 403) throw error;
    throw new Error(error.code === "quota_exceeded" ? ASK_FOR_ROOM : ASK, { cause: error });
  }
}

/** What the first workspace of somebody is called. */
async function firstName(): Promise<string> {
  const me = await call((api) => api.GET("/auth/me"));
  const name = me.role === "guest" ? "" : me.name.trim();
  return name === "" ? "My workspace" : `${name.slice(0, MOST_NAME - 12)}'s workspace`;
}
