import type { Patience } from "../../session/limits.ts";
import type { FeatureContext } from "../context.ts";
import type { CharacterStore, WorkshopStore } from "../workspaces/workshops-store.ts";
import { AwaitedAudioStore } from "./awaited-audio-store.ts";
import { sessionEditRoutes } from "./edit.ts";
import { type SessionMemberOptions, sessionMemberRoutes } from "./members.ts";
import { SessionMemberStore } from "./members-store.ts";
import { sessionRoutes } from "./routes.ts";
import { SessionEditStore, SessionStore } from "./store.ts";

interface CreateSessionOptions {
  users: SessionMemberOptions["users"];
  elevations: SessionMemberOptions["elevations"];
  notices: SessionMemberOptions["notices"];
  workshops: Pick<WorkshopStore, "find">;
  characters: CharacterStore;
  patience: Patience;
}

/** Sessions as records: who takes part, who may see them, what they are called. */
export function createSessions(
  { pool, cursorKey, revocations }: FeatureContext,
  { users, elevations, notices, workshops, characters, patience }: CreateSessionOptions,
) {
  const directory = new SessionStore(pool);
  const awaited = new AwaitedAudioStore(pool);
  const sessionEdits = new SessionEditStore(pool);
  const members = new SessionMemberStore(pool);
  return {
    directory,
    awaited,
    routes: [
      ...sessionRoutes({ directory, awaited, patience, names: characters, cursorKey }),
      ...sessionEditRoutes({ directory, sessionEdits, workshops, revocations }),
      ...sessionMemberRoutes({
        ...{ directory, members, users, elevations, notices, revocations, cursorKey },
      }),
    ],
  };
}
