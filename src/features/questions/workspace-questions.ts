import { maySession, mayWorkspace, type SessionFacts } from "../../access/policy.ts";
import type { Principal } from "../../access/principal.ts";
import { AppError, unknownThing } from "../../base/errors.ts";
import { isId } from "../../base/ids.ts";
import { requirePrincipal } from "../../rest/callers.ts";
import { recordElevatedRead } from "../sessions/sessions-access.ts";
import type { SessionDirectory } from "../sessions/sessions-directory.ts";
import type { WorkspaceDirectory } from "../workspaces/workspaces-directory.ts";

/** Sessions of a workspace that questions look at: the newest. */
const MAX_SESSIONS = 5_000;
const ACTION = "session.query";

/** Port: the caller's ties to many sessions. Throws `unavailable` when storage is away. */
export interface WorkspaceSessions {
  /** Facts for `maySession` of a workspace's sessions, newest first, deleted ones left out. */
  factsIn(principal: Principal, workspaceId: string, limit: number): Promise<SessionFacts[]>;
}

export interface WorkspaceQuestionPorts {
  directory: Pick<SessionDirectory, "recordContentRead">;
  workspaces: Pick<WorkspaceDirectory, "find" | "role">;
  workspaceSessions: WorkspaceSessions;
}

/** A workspace as far as the caller may ask about the words in it. */
export interface AskableWorkspace {
  principal: Principal;
  workspaceId: string;
  /** Newest first. */
  sessions: readonly SessionFacts[];
}

/**
 * The workspace with the sessions whose words the caller may ask about: 404 for an unknown one,
 * 403 when he has nothing to do with it. An administrator who is no member is given what an
 * elevation covers, and `elevation_required` when none does.
 */
export async function requireAskableWorkspace(
  { workspaces, workspaceSessions }: WorkspaceQuestionPorts,
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

/** No entry, no content: what an elevation opens is shown only after it was written down. */
export async function recordReads(
  { directory }: Pick<WorkspaceQuestionPorts, "directory">,
  { principal, sessions }: AskableWorkspace,
  sessionIds: readonly string[],
): Promise<void> {
  const read = new Set(sessionIds);
  for (const facts of sessions) {
    if (read.has(facts.id)) await recordElevatedRead(directory, principal, ACTION, facts);
  }
}
