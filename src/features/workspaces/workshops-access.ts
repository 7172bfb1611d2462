import type { Principal } from "../../access/principal.ts";
import { AppError, behind, unknownThing } from "../../base/errors.ts";
import { isId } from "../../base/ids.ts";
import type { WorkshopDirectory, WorkshopRecord } from "./workshops-directory.ts";
import { requireWorkspace } from "./workspaces-access.ts";
import type { WorkspaceDirectory } from "./workspaces-directory.ts";

export interface WorkshopAccess {
  workshops: Pick<WorkshopDirectory, "find">;
  workspaces: Pick<WorkspaceDirectory, "find" | "role">;
}

export function unknownWorkshop(id: string): AppError {
  return unknownThing("workshop", id);
}

/** The workshop, when the caller may work in its workspace: 404 for an unknown one, 403 by relation. */
export async function requireWorkshop(
  { workshops, workspaces }: WorkshopAccess,
  principal: Principal | undefined,
  id: string,
): Promise<WorkshopRecord> {
  const workshop = isId(id) ? await workshops.find(id) : undefined;
  if (workshop === undefined) throw unknownWorkshop(id);
  const { workspaceId } = workshop;
  const looked = requireWorkspace(workspaces, principal, workspaceId, "workspace.workshops");
  await behind("workshop", id, looked);
  return workshop;
}

/** A session is linked to workshops of its own workspace only: 404 for an unknown one, 403 for others. */
export async function assertLinkable(
  workshops: Pick<WorkshopDirectory, "find">,
  workshopId: string,
  workspaceId: string,
): Promise<void> {
  const workshop = isId(workshopId) ? await workshops.find(workshopId) : undefined;
  if (workshop === undefined) throw unknownWorkshop(workshopId);
  if (workshop.workspaceId === workspaceId) return;
  throw new AppError("forbidden", "The workshop belongs to another workspace than the session.");
}
