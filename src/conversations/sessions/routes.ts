import { type Static, Type } from "@sinclair/typebox";
import { maySession, mayWorkspace } from "../../access/policy.ts";
import { AppError } from "../../base/errors.ts";
import { defineRoute, type Route } from "../../rest/route.ts";
import type { Patience } from "../../session/limits.ts";
import type { CharacterStore } from "../../tenancy/workspaces/workshops-store.ts";
import { requireSession, type SessionGrant } from "./access.ts";
import { presentWaiting, waitingSchema } from "./awaited-audio.ts";
import type { AwaitedAudioStore } from "./awaited-audio-store.ts";
import {
  presentClaim,
  presentMerges,
  presentSession,
  presentSpeaker,
  sessionParams,
  sessionSchema,
  speakersSchema,
} from "./schema.ts";
import { mergesInto } from "./speakers-store.ts";
import type { SessionStore } from "./store.ts";
import { presentSuggestions, type SpeakerSuggestions } from "./suggestions.ts";
import {
  presentTranscriptionProgress,
  transcriptionProgressSchema,
} from "./transcription-progress.ts";
import type { TranscriptionProgressStore } from "./transcription-progress-store.ts";

interface SessionOptions {
  directory: SessionStore;
  awaited: AwaitedAudioStore;
  reading: TranscriptionProgressStore;
  patience: Patience;
  names: CharacterStore;
  suggestions: SpeakerSuggestions;
}

/** GET /sessions/{id}, /sessions/{id}/speakers. */
export function sessionRoutes(options: SessionOptions): Route[] {
  return [getSession(options), listSpeakers(options)];
}

const oneSessionSchema = Type.Composite(
  [
    sessionSchema,
    Type.Object({
      waiting: Type.Optional(waitingSchema),
      reading: Type.Optional(transcriptionProgressSchema),
    }),
  ],
  { $id: "SessionDetail" },
);

function getSession({ directory, awaited, reading, patience }: SessionOptions): Route {
  return defineRoute({
    method: "get",
    path: "/sessions/{session_id}",
    id: "getSession",
    tag: "Session",
    summary: "One session's record",
    description:
      "While a stopped session is `processing`, `waiting` tells whether it waits for chunks that did not come, for which, and until when. Until it has ended, `reading` tells how much of its audio was read.",
    auth: ["bearer", "service_key"],
    params: sessionParams,
    responses: { 200: { description: "The session", schema: oneSessionSchema } },
    volatile: ["waiting", "reading"],
    resolve: ({ principal, params }) =>
      requireSession(directory, principal, params.session_id, "session.read"),
    async handle({ params }) {
      const session = await directory.get(params.session_id);
      if (session === undefined) {
        throw new AppError("not_found", "There is no session with this id.");
      }
      const body: Static<typeof oneSessionSchema> = presentSession(session);
      const { id, status } = session;
      const isRecording = status === "recording";
      const [chunks, progress] = await Promise.all([
        status === "processing" ? awaited.of(id) : undefined,
        isRecording || status === "processing" ? reading.of(id) : undefined,
      ]);
      if (chunks !== undefined) body.waiting = presentWaiting(chunks, patience);
      if (progress !== undefined)
        body.reading = presentTranscriptionProgress(progress, isRecording);
      return { status: 200, body };
    },
  });
}

function listSpeakers({ directory, names, suggestions }: SessionOptions): Route {
  return defineRoute({
    method: "get",
    path: "/sessions/{session_id}/speakers",
    id: "listSpeakers",
    tag: "Session",
    summary: "The voices of a session and who claimed them",
    auth: ["bearer", "service_key"],
    params: sessionParams,
    responses: { 200: { description: "Every speaker", schema: speakersSchema } },
    resolve: ({ principal, params }) =>
      requireSession(directory, principal, params.session_id, "session.read"),
    async handle({ params }, grant) {
      const id = params.session_id;
      const { principal, facts } = grant;
      const suggested = await suggestions.for(grant);
      const speakers = await directory.speakers(id);
      const merges = await directory.merges(id);
      const isOwner = maySession(principal, "session.assign", facts) === "allow";
      const items = speakers.map((speaker) => ({
        ...presentSpeaker(speaker),
        ...((isOwner || speaker.claimedUserId === principal.id) && presentClaim(speaker)),
        ...presentMerges(mergesInto(merges, speaker.label)),
        suggestions: presentSuggestions(suggested.get(speaker.label)),
      }));
      const offered = maySeeWorkshops(grant) ? await names.namesFor(id) : [];
      return { status: 200, body: { items, next_cursor: null, suggested_names: offered } };
    },
  });
}

function maySeeWorkshops({ principal, facts }: SessionGrant): boolean {
  const workspace = {
    kind: "workspace",
    id: facts.workspaceId,
    role: facts.workspaceRole,
  } as const;
  return mayWorkspace(principal, "workspace.workshops", workspace) === "allow";
}
