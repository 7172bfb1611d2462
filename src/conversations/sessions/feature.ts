import type { Patience } from "../../session/limits.ts";
import {
  type ScopedInvitationOptions,
  scopedInvitationRoutes,
} from "../../tenancy/workspaces/invitations/scope-routes.ts";
import type { CharacterStore, WorkshopStore } from "../../tenancy/workspaces/workshops-store.ts";
import type { FeatureContext } from "../context.ts";
import { requireSession } from "./access.ts";
import { AwaitedAudioStore } from "./awaited-audio-store.ts";
import { sessionEditRoutes } from "./edit.ts";
import { sessionListRoutes } from "./list.ts";
import { SessionListStore } from "./list-store.ts";
import { type SessionMemberOptions, sessionMemberRoutes } from "./members.ts";
import { SessionMemberStore } from "./members-store.ts";
import { sessionRoutes } from "./routes.ts";
import { SessionEditStore, SessionStore } from "./store.ts";
import type { SpeakerSuggestions } from "./suggestions.ts";
import { TranscriptionProgressStore } from "./transcription-progress-store.ts";

interface CreateSessionOptions
  extends Pick<SessionMemberOptions, "workspaces" | "invitations" | "elevations" | "notices"> {
  invitationBook: ScopedInvitationOptions["store"];
  workshops: Pick<WorkshopStore, "find">;
  characters: CharacterStore;
  patience: Patience;
  suggestions: SpeakerSuggestions;
}

/** Sessions as records: who takes part, who may see them, what they are called. */
export function createSessions(
  { pool, cursorKey, revocations, others }: FeatureContext,
  options: CreateSessionOptions,
) {
  const { workspaces, invitations, elevations, notices, workshops, characters } = options;
  const { patience, suggestions } = options;
  const directory = new SessionStore(pool);
  const awaited = new AwaitedAudioStore(pool);
  const reading = new TranscriptionProgressStore(pool);
  const sessionEdits = new SessionEditStore(pool);
  const members = new SessionMemberStore(pool, others);
  return {
    directory,
    awaited,
    routes: [
      ...sessionListRoutes({ list: new SessionListStore(pool), cursorKey }),
      ...sessionRoutes({ directory, awaited, reading, patience, suggestions, names: characters }),
      ...sessionEditRoutes({ directory, sessionEdits, workshops, revocations }),
      ...sessionMemberRoutes({
        ...{ directory, members, workspaces, invitations, elevations, notices },
        ...{ revocations, cursorKey },
      }),
      ...scopedInvitationRoutes({
        kind: "Session",
        parameter: "session_id",
        auth: ["bearer", "service_key"],
        store: options.invitationBook,
        cursorKey,
        find: async (principal, id) => {
          const { facts } = await requireSession(directory, principal, id, "session.take_back");
          return { workspaceId: facts.workspaceId, sessionId: facts.id };
        },
      }),
    ],
  };
}
