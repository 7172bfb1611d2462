import { maySession, mayWorkspace, type SessionFacts } from "../../access/policy.ts";
import type { Principal } from "../../access/principal.ts";
import { AppError, unknownThing } from "../../base/errors.ts";
import { isId } from "../../base/ids.ts";
import { requirePrincipal } from "../../rest/callers.ts";
import type { WorkspaceStore } from "../../tenancy/workspaces/store.ts";
import { recordElevatedRead } from "../sessions/access.ts";
import type { SessionStore } from "../sessions/store.ts";
import type { SearchStore } from "./search-store.ts";

/** Most sessions that one question or search considers; the newest are taken. */
const MAX_SESSIONS = 5_000;
const ACTION = "session.query";

export interface WorkspaceQuestionOptions {
  directory: Pick<SessionStore, "recordContentRead">;
  workspaces: Pick<WorkspaceStore, "find" | "role">;
  workspaceSessions: SearchStore;
}

/** Sessions that the caller may ask about, newest first. */
export interface AskableSessions {
  principal: Principal;
  sessions: readonly SessionFacts[];
}

export interface AskableWorkspace extends AskableSessions {
  workspaceId: string;
}

/** All sessions that the person may ask about, in whatever workspace; those an elevation covers too. */
export async function askableSessions(
  { workspaceSessions }: Pick<WorkspaceQuestionOptions, "workspaceSessions">,
  caller: Principal | undefined,
): Promise<AskableSessions> {
  const principal = requirePrincipal(caller);
  if (principal.kind !== "user") throw new AppError("forbidden", "Only people search everywhere.");
  const all = await workspaceSessions.factsOf(principal, MAX_SESSIONS);
  const sessions = all.filter((each) => maySession(principal, ACTION, each) === "allow");
  return { principal, sessions };
}

/**
 * Returns the workspace with the sessions that the caller may ask about. Throws 404 for an unknown
 * workspace and `forbidden` without a relation to it. An administrator who is no member gets the
 * sessions that an elevation covers; throws `elevation_required` when none does.
 */
export async function requireAskableWorkspace(
  { workspaces, workspaceSessions }: WorkspaceQuestionOptions,
  caller: Principal | undefined,
  workspaceId: string,
): Promise<AskableWorkspace> {
  const principal = requirePrincipal(caller);
  const workspace = isId(workspaceId) ? await workspaces.find(workspaceId) : undefined;
  if (workspace === undefined) throw unknownThing("workspace", workspaceId);
  const isUser = principal.kind === "user";
  const role = isUser ? await workspaces.role(workspaceId, principal.id) : undefined;
  const facts = { kind: "workspace", id: workspaceId, role } as const;
  const verdict = mayWorkspace(principal, "workspace.query", facts);
  if (verdict === "not_found") throw unknownThing("workspace", workspaceId);
  if (verdict !== "allow" && verdict !== "elevation_required") {
    throw new AppError("forbidden", "You may not ask about this workspace.");
  }
  const all = await workspaceSessions.factsIn(principal, workspaceId, MAX_SESSIONS);
  const sessions = all.filter((each) => maySession(principal, ACTION, each) === "allow");
  if (verdict === "elevation_required" && sessions.length === 0) {
    throw new AppError(
      "elevation_required",
      "What is said in this workspace is closed to administrators without an elevation. Ask for one with a reason at POST /api/admin/content-elevate.",
    );
  }
  return { principal, workspaceId, sessions };
}

/** Records reads that an elevation allowed. Must succeed before the content is shown. */
export async function recordReads(
  { directory }: Pick<WorkspaceQuestionOptions, "directory">,
  { principal, sessions }: AskableSessions,
  sessionIds: readonly string[],
): Promise<void> {
  const read = new Set(sessionIds);
  for (const facts of sessions) {
    if (read.has(facts.id)) await recordElevatedRead(directory, principal, ACTION, facts);
  }
}
