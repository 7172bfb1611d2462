import { newId } from "../../src/base/ids.ts";
import { silentLog } from "../../src/base/log.ts";
import { concernRoutes } from "../../src/features/concerns/routes.ts";
import { PostgresConcerns } from "../../src/features/concerns/store.ts";
import { triageRoutes } from "../../src/features/concerns/triage-routes.ts";
import { sessionEditRoutes } from "../../src/features/sessions/edit.ts";
import { PostgresSessionEdits, PostgresSessions } from "../../src/features/sessions/store.ts";
import { characterRoutes } from "../../src/features/workspaces/characters-routes.ts";
import { WorkspaceStore } from "../../src/features/workspaces/store.ts";
import { workshopRoutes } from "../../src/features/workspaces/workshops-routes.ts";
import {
  PostgresCharacters,
  PostgresWorkshops,
} from "../../src/features/workspaces/workshops-store.ts";
import type { OutboxRow, SessionCommand } from "../../src/postgres/outbox.ts";
import type { Route } from "../../src/rest/route.ts";
import { LocalRevocations } from "./memory/local-revocations.ts";
import type { SessionHouse } from "./session-house.ts";

const cursorKey = new Uint8Array(32).fill(9);

/** The routes of workshops, concerns and workspaces over a house's database; `asked` gets what actors are asked. */
export function groupRoutes(house: SessionHouse, asked: SessionCommand[] = []): Route[] {
  const { pool, routes } = house;
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
    ...concernRoutes(concernPorts(house, asked)),
    ...triageRoutes(concernPorts(house, asked)),
  ];
}

function concernPorts(house: SessionHouse, asked: SessionCommand[]) {
  return {
    directory: new PostgresSessions(house.pool),
    concerns: new PostgresConcerns(house.pool),
    notifier: { notify: (rows: readonly OutboxRow[]) => house.notify(rows) },
    actors: {
      async ask(_sessionId: string, command: SessionCommand) {
        asked.push(command);
        return { segmentIds: [newId()] };
      },
    },
    log: silentLog,
    cursorKey,
  };
}
