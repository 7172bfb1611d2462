import type { ConcernPorts } from "./api/concerns.ts";
import type { TriagePorts } from "./api/concerns-triage.ts";
import type { WorkshopPorts } from "./api/workshops.ts";
import type { CharacterPorts } from "./api/workshops-characters.ts";
import type { NameSuggestions } from "./api/workshops-directory.ts";
import type { AppContext } from "./app-shared.ts";
import { PostgresConcerns } from "./store/concerns.ts";
import { PostgresCharacters } from "./store/workshop-characters.ts";
import { PostgresWorkshops } from "./store/workshops.ts";
import { WorkspaceStore } from "./store/workspaces.ts";

type Given = Pick<ConcernPorts, "directory" | "notifier">;

interface GroupPorts {
  workshops: WorkshopPorts & CharacterPorts & { characters: NameSuggestions };
  concerns: ConcernPorts & TriagePorts;
}

/** What the routes of workshops and concerns need. */
export function createGroupPorts({ shared, log }: AppContext, given: Given): GroupPorts {
  const { pool, commands: actors } = shared;
  const { cursorKey } = shared.keys;
  return {
    workshops: {
      workshops: new PostgresWorkshops(pool),
      characters: new PostgresCharacters(pool),
      workspaces: new WorkspaceStore(pool),
      cursorKey,
    },
    concerns: { ...given, concerns: new PostgresConcerns(pool), actors, log, cursorKey },
  };
}
