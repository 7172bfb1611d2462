import type { Principal } from "../../access/principal.ts";
import {
  type AskableWorkspace,
  requireAskableWorkspace,
  type WorkspaceQuestionPorts,
} from "../questions/workspace-questions.ts";
import type { SessionDirectory } from "../sessions/sessions-directory.ts";

/** Sessions that one graph is made of at most: the newest. */
export const MAX_SESSIONS = 100;

export interface WorkspaceGraphPorts extends WorkspaceQuestionPorts {
  directory: SessionDirectory;
}

/** A workspace as far as the caller may read the words in it. */
export interface WorkspaceScope extends AskableWorkspace {
  /** Newest first. */
  sessionIds: string[];
}

/** Whoever may ask about a workspace's sessions sees the graph of the newest of them. */
export async function requireWorkspaceScope(
  ports: WorkspaceGraphPorts,
  caller: Principal | undefined,
  workspaceId: string,
): Promise<WorkspaceScope> {
  const asked = await requireAskableWorkspace(ports, caller, workspaceId);
  const sessions = asked.sessions.slice(0, MAX_SESSIONS);
  return { ...asked, sessions, sessionIds: sessions.map(({ id }) => id) };
}
