import { mayWorkspace, type WorkspaceAction } from "../../access/policy.ts";
import type { Principal } from "../../access/principal.ts";
import { AppError, unknownThing } from "../../base/errors.ts";
import { isId } from "../../base/ids.ts";
import { requirePrincipal } from "../../rest/callers.ts";
import type { WorkspaceDirectory, WorkspaceRecord } from "./workspaces-directory.ts";

/** The workspace, when the caller may do this to it: 404 for an unknown one, 403 by relation. */
export async function requireWorkspace(
  workspaces: Pick<WorkspaceDirectory, "find" | "role">,
  principal: Principal | undefined,
  id: string,
  action: WorkspaceAction,
): Promise<WorkspaceRecord> {
  const caller = requirePrincipal(principal);
  const workspace = isId(id) ? await workspaces.find(id) : undefined;
  if (workspace === undefined) throw unknownThing("workspace", id);
  const role = await workspaces.role(id, caller.id);
  const verdict = mayWorkspace(caller, action, { kind: "workspace", id, role });
  if (verdict === "allow") return workspace;
  if (verdict === "not_found") throw unknownThing("workspace", id);
  if (caller.kind === "service") {
    throw new AppError("forbidden", "The key's scopes do not allow this.");
  }
  throw new AppError(
    "forbidden",
    role === undefined
      ? "You do not belong to this workspace."
      : "Only an owner of the workspace may do this.",
  );
}
