import { type Static, Type } from "@sinclair/typebox";
import { mayListSessions } from "../../access/policy.ts";
import { AppError } from "../../base/errors.ts";
import { requirePrincipal } from "../../rest/callers.ts";
import { filterId, pageQuery, pageSchema, toPageBody, toPageRequest } from "../../rest/page.ts";
import { defineRoute, PEOPLE, type Route } from "../../rest/route.ts";
import type { Patience } from "../../session/limits.ts";
import type { CharacterStore } from "../workspaces/workshops-store.ts";
import { requireSession } from "./access.ts";
import { presentWaiting, waitingSchema } from "./awaited-audio.ts";
import type { AwaitedAudioStore } from "./awaited-audio-store.ts";
import {
  presentSession,
  presentSpeaker,
  sessionParams,
  sessionSchema,
  sessionStatus,
  speakersSchema,
} from "./schema.ts";
import type { SessionStore } from "./store.ts";
import { presentSuggestions, type SpeakerSuggestions } from "./suggestions.ts";

interface SessionOptions {
  directory: SessionStore;
  awaited: AwaitedAudioStore;
  patience: Patience;
  names: CharacterStore;
  suggestions: SpeakerSuggestions;
  /** Signs the cursors of lists. */
  cursorKey: Uint8Array;
}

/** GET /sessions, /sessions/{id}, /sessions/{id}/speakers. */
export function sessionRoutes(options: SessionOptions): Route[] {
  return [listSessions(options), getSession(options), listSpeakers(options)];
}

function listSessions({ directory, cursorKey }: SessionOptions): Route {
  return defineRoute({
    method: "get",
    path: "/sessions",
    id: "listSessions",
    tag: "Session",
    summary: "Sessions that the caller may see, newest first",
    auth: ["bearer", "service_key"],
    roles: PEOPLE,
    query: Type.Object({
      ...pageQuery,
      workspace_id: Type.Optional(Type.String()),
      status: Type.Optional(sessionStatus),
    }),
    responses: { 200: { description: "A page of sessions", schema: pageSchema(sessionSchema) } },
    async resolve({ principal }) {
      if (mayListSessions(requirePrincipal(principal)) === "allow") return;
      throw new AppError("forbidden", "The key's scopes do not allow this.");
    },
    async handle({ principal, query }) {
      const caller = requirePrincipal(principal);
      const page = toPageRequest(cursorKey, "sessions", query);
      const workspaceId = filterId("workspace_id", query.workspace_id);
      const found = await directory.list(caller, { workspaceId, status: query.status }, page);
      return { status: 200, body: toPageBody(cursorKey, "sessions", found, presentSession) };
    },
  });
}

const oneSessionSchema = Type.Composite(
  [sessionSchema, Type.Object({ waiting: Type.Optional(waitingSchema) })],
  { $id: "SessionDetail" },
);

function getSession({ directory, awaited, patience }: SessionOptions): Route {
  return defineRoute({
    method: "get",
    path: "/sessions/{session_id}",
    id: "getSession",
    tag: "Session",
    summary: "One session's record",
    description:
      "While a stopped session is `processing`, `waiting` tells whether it waits for chunks that did not come, for which, and until when.",
    auth: ["bearer", "service_key"],
    params: sessionParams,
    responses: { 200: { description: "The session", schema: oneSessionSchema } },
    volatile: ["waiting"],
    resolve: ({ principal, params }) =>
      requireSession(directory, principal, params.session_id, "session.read"),
    async handle({ params }) {
      const session = await directory.get(params.session_id);
      if (session === undefined) {
        throw new AppError("not_found", "There is no session with this id.");
      }
      const body: Static<typeof oneSessionSchema> = presentSession(session);
      const chunks = session.status === "processing" ? await awaited.of(session.id) : undefined;
      if (chunks !== undefined) body.waiting = presentWaiting(chunks, patience);
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
      const { principal } = grant;
      const suggested = await suggestions.for(grant);
      const speakers = await directory.speakers(id);
      const items = speakers.map((speaker) => ({
        ...presentSpeaker(speaker),
        suggestions: presentSuggestions(suggested.get(speaker.label)),
      }));
      // Guests get no names, because workshops are for members of the workspace.
      const offered = principal.kind === "guest" ? [] : await names.namesFor(id);
      return { status: 200, body: { items, next_cursor: null, suggested_names: offered } };
    },
  });
}
