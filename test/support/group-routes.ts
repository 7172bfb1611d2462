import { newId } from "../../src/base/ids.ts";
import { silentLog } from "../../src/base/log.ts";
import { concernRoutes } from "../../src/features/concerns/routes.ts";
import { ConcernStore } from "../../src/features/concerns/store.ts";
import { triageRoutes } from "../../src/features/concerns/triage-routes.ts";
import { sessionEditRoutes } from "../../src/features/sessions/edit.ts";
import { SessionEditStore, SessionStore } from "../../src/features/sessions/store.ts";
import { characterRoutes } from "../../src/features/workspaces/characters-routes.ts";
import { WorkspaceStore } from "../../src/features/workspaces/store.ts";
import { workshopRoutes } from "../../src/features/workspaces/workshops-routes.ts";
import { CharacterStore, WorkshopStore } from "../../src/features/workspaces/workshops-store.ts";
import type { OutboxRow } from "../../src/postgres/outbox.ts";
import type { Route } from "../../src/rest/route.ts";
import type { OutsideCommand } from "../../src/session/outside-command.ts";
import { LocalRevocations } from "./memory/local-revocations.ts";
import type { SessionFixture } from "./session-fixture.ts";

const cursorKey = new Uint8Array(32).fill(9);

/** The routes of workshops, concerns and workspaces over a house's database; `asked` gets what actors are asked. */
export function groupRoutes(fixture: SessionFixture, asked: OutsideCommand[] = []): Route[] {
  const { pool, routes } = fixture;
  const directory = new SessionStore(pool);
  const workshops = new WorkshopStore(pool);
  const workspaces = new WorkspaceStore(pool);
  const revocations = new LocalRevocations();
  return [
    ...routes,
    ...workshopRoutes({ workshops, workspaces, cursorKey }),
    ...characterRoutes({
      workshops,
      characters: new CharacterStore(pool),
      workspaces,
      cursorKey,
    }),
    ...sessionEditRoutes({
      directory,
      sessionEdits: new SessionEditStore(pool),
      workshops,
      revocations,
    }),
    ...concernRoutes(concernPorts(fixture, asked)),
    ...triageRoutes(concernPorts(fixture, asked)),
  ];
}

function concernPorts(fixture: SessionFixture, asked: OutsideCommand[]) {
  return {
    directory: new SessionStore(fixture.pool),
    concerns: new ConcernStore(fixture.pool),
    notifier: { notify: (rows: readonly OutboxRow[]) => fixture.notify(rows) },
    actors: {
      async ask(_sessionId: string, command: OutsideCommand) {
        asked.push(command);
        return { segmentIds: [newId()] };
      },
    },
    log: silentLog,
    cursorKey,
  };
}
