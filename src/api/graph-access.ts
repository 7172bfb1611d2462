import { maySession, mayWorkspace, type SessionFacts } from "../auth/policy.ts";
import type { Principal } from "../auth/principal.ts";
import { AppError } from "../base/errors.ts";
import { isId } from "../base/ids.ts";
import { recordElevatedRead, requirePrincipal } from "./sessions-access.ts";
import type { SessionDirectory } from "./sessions-directory.ts";
import type { WorkspaceDirectory } from "./workspaces-directory.ts";

/** Sessions that one graph is made of at most: the newest. */
export const MAX_SESSIONS = 100;
/** Sessions looked at to find those. */
const MAX_LOOKED_AT = 500;
const PAGE = 100;
const AT_ONCE = 8;
const ACTION = "session.query";

export interface WorkspaceGraphPorts {
  directory: SessionDirectory;
  workspaces: Pick<WorkspaceDirectory, "find" | "role">;
}

/** A workspace as far as the caller may read the words in it. */
export interface WorkspaceScope {
  principal: Principal;
  workspaceId: string;
  /** Newest first. */
  sessionIds: string[];
  facts: SessionFacts[];
}

/**
 * The workspace with the sessions whose words the caller may ask about: 404 for an
 * unknown one, 403 for one he has nothing to do with. An administrator who is no
 * member sees what an elevation covers, and 403 when none does.
 */
export async function requireWorkspaceScope(
  { directory, workspaces }: WorkspaceGraphPorts,
  caller: Principal | undefined,
  workspaceId: string,
): Promise<WorkspaceScope> {
  const principal = requirePrincipal(caller);
  const workspace = isId(workspaceId) ? await workspaces.find(workspaceId) : undefined;
  if (workspace === undefined) throw unknownWorkspace();
  const role =
    principal.kind === "user" ? await workspaces.role(workspaceId, principal.id) : undefined;
  const facts = { kind: "workspace", id: workspaceId, role } as const;
  const verdict = mayWorkspace(principal, "workspace.query", facts);
  if (verdict === "not_found") throw unknownWorkspace();
  if (verdict !== "allow" && verdict !== "elevation_required") throw notYours();
  const sessions = await readableSessions(directory, principal, workspaceId);
  if (verdict === "elevation_required" && sessions.length === 0) throw elevationRequired();
  return {
    principal,
    workspaceId,
    sessionIds: sessions.map(({ id }) => id),
    facts: sessions,
  };
}

/** No entry, no content: what an elevation opens is shown only after it was written down. */
export async function recordElevatedReads(
  { directory }: WorkspaceGraphPorts,
  { principal, facts }: WorkspaceScope,
  sessionIds: readonly string[],
): Promise<void> {
  const read = new Set(sessionIds);
  for (const each of facts) {
    if (read.has(each.id)) await recordElevatedRead(directory, principal, ACTION, each);
  }
}

async function readableSessions(
  directory: SessionDirectory,
  principal: Principal,
  workspaceId: string,
): Promise<SessionFacts[]> {
  const readable: SessionFacts[] = [];
  let after: string | undefined;
  for (let looked = 0; looked < MAX_LOOKED_AT; looked += PAGE) {
    const page = await directory.list(principal, { workspaceId }, { limit: PAGE, after });
    for (let at = 0; at < page.items.length; at += AT_ONCE) {
      const ids = page.items.slice(at, at + AT_ONCE).map(({ id }) => id);
      const facts = await Promise.all(ids.map((id) => directory.facts(principal, id)));
      readable.push(...facts.flatMap((each) => (mayAsk(principal, each) ? [each] : [])));
      if (readable.length >= MAX_SESSIONS) return readable.slice(0, MAX_SESSIONS);
    }
    if (page.next === undefined) break;
    after = page.next;
  }
  return readable;
}

function mayAsk(principal: Principal, facts: SessionFacts | undefined): facts is SessionFacts {
  if (facts === undefined || facts.deleted) return false;
  return maySession(principal, ACTION, facts) === "allow";
}

function unknownWorkspace(): AppError {
  return new AppError("not_found", "There is no such workspace.");
}

function notYours(): AppError {
  return new AppError("forbidden", "You do not belong to this workspace.");
}

function elevationRequired(): AppError {
  return new AppError(
    "elevation_required",
    "What is said in this workspace is closed to administrators without an elevation. Ask for one with a reason at POST /api/admin/content-elevate.",
  );
}
