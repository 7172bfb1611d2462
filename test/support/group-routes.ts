import type { Route } from "../../src/api/route.ts";
import { sessionEditRoutes } from "../../src/api/sessions-edit.ts";
import { workshopRoutes } from "../../src/api/workshops.ts";
import { characterRoutes } from "../../src/api/workshops-characters.ts";
import { LocalRevocations } from "../../src/auth/local-revocations.ts";
import { PostgresSessionEdits } from "../../src/store/session-edits.ts";
import { PostgresSessions } from "../../src/store/sessions.ts";
import { PostgresCharacters } from "../../src/store/workshop-characters.ts";
import { PostgresWorkshops } from "../../src/store/workshops.ts";
import { WorkspaceStore } from "../../src/store/workspaces.ts";
import type { SessionHouse } from "./session-house.ts";

const cursorKey = new Uint8Array(32).fill(9);

/** The routes of workshops, concerns and workspaces over a house's database. */
export function groupRoutes({ pool, routes }: SessionHouse): Route[] {
  const directory = new PostgresSessions(pool);
  const workshops = new PostgresWorkshops(pool);
  const workspaces = new WorkspaceStore(pool);
  const revocations = new LocalRevocations();
  return [
    ...routes,
    ...workshopRoutes({ workshops, workspaces, cursorKey }),
    ...characterRoutes({
      workshops,
      characters: new PostgresCharacters(pool),
      workspaces,
      cursorKey,
    }),
    ...sessionEditRoutes({
      directory,
      sessionEdits: new PostgresSessionEdits(pool),
      workshops,
      revocations,
    }),
  ];
}
