import { UserStore } from "../accounts/users-store.ts";
import type { TenancyContext } from "../context.ts";
import { characterRoutes } from "./characters-routes.ts";
import { workspaceEditRoutes } from "./edit-routes.ts";
import {
  type ScopedInvitationOptions,
  scopedInvitationRoutes,
} from "./invitations/scope-routes.ts";
import { type WorkspaceMemberOptions, workspaceMemberRoutes } from "./members-routes.ts";
import { WorkspaceMemberStore } from "./members-store.ts";
import { requireWorkspace, workspaceRoutes } from "./routes.ts";
import { serviceKeyRoutes } from "./service-key-routes.ts";
import { ServiceKeys } from "./service-keys.ts";
import { ServiceKeyStore } from "./service-keys-store.ts";
import { WorkspaceEditStore, WorkspaceStore } from "./store.ts";
import { workshopRoutes } from "./workshops-routes.ts";
import { CharacterStore, WorkshopStore } from "./workshops-store.ts";

interface CreateWorkspaceOptions
  extends Pick<WorkspaceMemberOptions, "invitations" | "elevations" | "notices"> {
  invitationBook: ScopedInvitationOptions["store"];
}

/** Workspaces with their members, service keys, workshops and characters. */
export function createWorkspaces(
  { pool, clock, cursorKey, revocations, ceilings, engines, others }: TenancyContext,
  { invitationBook, ...giving }: CreateWorkspaceOptions,
) {
  const workspaces = new WorkspaceStore(pool, ceilings);
  const workspaceEdits = new WorkspaceEditStore(pool, others);
  const members = new WorkspaceMemberStore(pool);
  const workshops = new WorkshopStore(pool);
  const characters = new CharacterStore(pool);
  const serviceKeyBook = new ServiceKeyStore(pool, ceilings);
  const serviceKeys = new ServiceKeys({ store: serviceKeyBook, revocations, clock });
  return {
    workspaces,
    members,
    workshops,
    characters,
    serviceKeyBook,
    serviceKeys,
    routes: [
      ...serviceKeyRoutes({
        ...{ serviceKeys, serviceKeyBook, workspaces, cursorKey },
        elevations: giving.elevations,
      }),
      ...workspaceRoutes({ workspaces, cursorKey }),
      ...workspaceMemberRoutes({
        ...{ workspaces, members, revocations, cursorKey },
        users: new UserStore(pool),
        ...giving,
      }),
      ...scopedInvitationRoutes({
        kind: "Workspace",
        parameter: "id",
        auth: ["bearer"],
        store: invitationBook,
        cursorKey,
        find: async (principal, id) => {
          await requireWorkspace(workspaces, principal, id, "workspace.edit");
          return { workspaceId: id };
        },
      }),
      ...workspaceEditRoutes({ workspaces, workspaceEdits, revocations, engines, ...giving }),
      ...workshopRoutes({ workshops, workspaces, cursorKey }),
      ...characterRoutes({ workshops, characters, workspaces, cursorKey }),
    ],
  };
}
