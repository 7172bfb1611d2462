import type { FeatureContext } from "../context.ts";
import { characterRoutes } from "./characters-routes.ts";
import { type WorkspaceMemberOptions, workspaceMemberRoutes } from "./members-routes.ts";
import { WorkspaceMemberStore } from "./members-store.ts";
import { workspaceEditRoutes, workspaceRoutes } from "./routes.ts";
import { serviceKeyRoutes } from "./service-key-routes.ts";
import { ServiceKeys } from "./service-keys.ts";
import { ServiceKeyStore } from "./service-keys-store.ts";
import { WorkspaceEditStore, WorkspaceStore } from "./store.ts";
import { workshopRoutes } from "./workshops-routes.ts";
import { CharacterStore, WorkshopStore } from "./workshops-store.ts";

/** Workspaces with their members, service keys, workshops and characters. */
export function createWorkspaces(
  { pool, clock, cursorKey, revocations }: FeatureContext,
  { users, ...giving }: Pick<WorkspaceMemberOptions, "users" | "elevations" | "notices">,
) {
  const workspaces = new WorkspaceStore(pool);
  const workspaceEdits = new WorkspaceEditStore(pool);
  const members = new WorkspaceMemberStore(pool);
  const workshops = new WorkshopStore(pool);
  const characters = new CharacterStore(pool);
  const serviceKeyBook = new ServiceKeyStore(pool);
  const serviceKeys = new ServiceKeys({ store: serviceKeyBook, revocations, clock });
  return {
    workspaces,
    members,
    workshops,
    characters,
    serviceKeyBook,
    serviceKeys,
    routes: [
      ...serviceKeyRoutes({ serviceKeys, serviceKeyBook, workspaces, cursorKey }),
      ...workspaceRoutes({ workspaces, cursorKey }),
      ...workspaceMemberRoutes({ workspaces, members, users, revocations, cursorKey, ...giving }),
      ...workspaceEditRoutes({ workspaces, workspaceEdits, revocations }),
      ...workshopRoutes({ workshops, workspaces, cursorKey }),
      ...characterRoutes({ workshops, characters, workspaces, cursorKey }),
    ],
  };
}
