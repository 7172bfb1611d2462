import { concernRoutes } from "../../src/api/concerns.ts";
import { triageRoutes } from "../../src/api/concerns-triage.ts";
import type { Route } from "../../src/api/route.ts";
import { sessionEditRoutes } from "../../src/api/sessions-edit.ts";
import type { OutboxRow, SessionCommand } from "../../src/api/sessions-outbox.ts";
import { workshopRoutes } from "../../src/api/workshops.ts";
import { characterRoutes } from "../../src/api/workshops-characters.ts";
import { newId } from "../../src/base/ids.ts";
import { silentLog } from "../../src/base/log.ts";
import { PostgresConcerns } from "../../src/store/concerns.ts";
import { PostgresSessionEdits } from "../../src/store/session-edits.ts";
import { PostgresSessions } from "../../src/store/sessions.ts";
import { PostgresCharacters } from "../../src/store/workshop-characters.ts";
import { PostgresWorkshops } from "../../src/store/workshops.ts";
import { WorkspaceStore } from "../../src/store/workspaces.ts";
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
