import { Type } from "@sinclair/typebox";
import { commandIdOf } from "../../rest/idempotency.ts";
import { defineRoute, type Route } from "../../rest/route.ts";
import { uuid } from "../../rest/schemas.ts";
import { requireSession } from "../sessions/access.ts";
import type { SessionCommandOptions } from "../sessions/actors.ts";
import { sessionParams } from "../sessions/schema.ts";

const label = (description: string) => Type.String({ pattern: "^S[1-9][0-9]{0,5}$", description });

/** A label, or `UU` for lines of which nobody knows who said them. */
const anyone = (description: string) =>
  Type.String({ pattern: "^(UU|S[1-9][0-9]{0,5})$", description });

/** Segments that one request gives to another speaker: several times those of an hour's talk. */
const MOST_SEGMENTS = 5_000;

/** POST /sessions/{id}/speakers/merge, /speakers/unmerge and /speakers/reassign. */
export function voiceRoutes(options: SessionCommandOptions): Route[] {
  return [merge(options), unmerge(options), reassign(options)];
}

function merge({ directory, actors }: SessionCommandOptions): Route {
  return defineRoute({
    method: "post",
    path: "/sessions/{session_id}/speakers/merge",
    id: "mergeSpeakers",
    tag: "Session",
    throughActor: true,
    summary: "Say that two labels are one voice",
    description:
      "The older label survives, whichever way they are named, and claims follow. POST /sessions/{session_id}/speakers/unmerge takes it back.",
    auth: ["bearer", "service_key"],
    params: sessionParams,
    body: {
      kind: "json",
      schema: Type.Object(
        { from: label("One of two labels of one voice"), into: label("The other") },
        { examples: [{ from: "S2", into: "S1" }] },
      ),
    },
    responses: {
      200: {
        description: "What became of them",
        schema: Type.Object({
          from: Type.String({ description: "The label that became part of the other" }),
          into: Type.String({ description: "The label that stays" }),
        }),
      },
    },
    resolve: ({ principal, params }) =>
      requireSession(directory, principal, params.session_id, "session.edit"),
    async handle(request, { principal }) {
      const { params, body } = request;
      const command = { type: "MergeSpeakers" as const, ...body, byUserId: principal.id };
      const merged = await actors.ask(params.session_id, command, commandIdOf(request));
      return { status: 200, body: merged };
    },
  });
}

function unmerge({ directory, actors }: SessionCommandOptions): Route {
  return defineRoute({
    method: "post",
    path: "/sessions/{session_id}/speakers/unmerge",
    id: "unmergeSpeakers",
    tag: "Session",
    throughActor: true,
    summary: "Take a merge of two labels back",
    description:
      "`from` is a voice of its own again: its segments, and those that its voice has got since, have its label, and it has the claim and the free name that it had, unless somebody has changed since what became of them. Segments whose speaker a person has chosen since stay. What the recognition merged by itself is set apart in the same way, and it does not merge the two again. Viewers get `SpeakerRevision`, and `SpeakerClaimed` and `SpeakerNamed` for what comes back. 409 when `from` is no part of `into` any more. A voice that was remembered of both as one is forgotten.",
    auth: ["bearer", "service_key"],
    params: sessionParams,
    body: {
      kind: "json",
      schema: Type.Object(
        {
          from: label("The label that became part of the other"),
          into: label("The label of which it became part"),
        },
        { examples: [{ from: "S2", into: "S1" }] },
      ),
    },
    responses: {
      200: {
        description: "What became of them",
        schema: Type.Object({
          label: Type.String({
            description: "The label that is a voice of its own again",
            examples: ["S2"],
          }),
          into: Type.String({ description: "The label whose part it was", examples: ["S1"] }),
          segments: Type.Integer({
            description: "How many segments are its own again",
            examples: [12],
          }),
        }),
      },
    },
    errors: ["conflict"],
    resolve: ({ principal, params }) =>
      requireSession(directory, principal, params.session_id, "session.edit"),
    async handle(request, { principal }) {
      const { params, body } = request;
      const command = { type: "UnmergeSpeakers" as const, ...body, byUserId: principal.id };
      const set = await actors.ask(params.session_id, command, commandIdOf(request));
      return { status: 200, body: set };
    },
  });
}

function reassign({ directory, actors }: SessionCommandOptions): Route {
  return defineRoute({
    method: "post",
    path: "/sessions/{session_id}/speakers/reassign",
    id: "reassignSegments",
    tag: "Session",
    throughActor: true,
    summary: "Give segments of a speaker to another one, or to a new one",
    description:
      "Splits a voice: the segments named, as far as they are of `from`, are of `into` from then on; without `into`, of a new label. The recognition does not change it again; a redo replaces it. Viewers get `SpeakerRevision`. The way back is the same call the other way round. 409 when none of the segments is of `from` any more, or when a new label is asked for while a repeated transcription waits for a choice.",
    auth: ["bearer", "service_key"],
    params: sessionParams,
    body: {
      kind: "json",
      schema: Type.Object(
        {
          from: anyone("The label that the segments have"),
          into: Type.Optional(anyone("The label that they get; a new one by default")),
          segment_ids: Type.Array(uuid, {
            minItems: 1,
            maxItems: MOST_SEGMENTS,
            description: "The segments, in any order",
          }),
        },
        {
          examples: [{ from: "S1", segment_ids: ["0198c0de-0000-7000-8000-000000000001"] }],
        },
      ),
    },
    responses: {
      200: {
        description: "What became of them",
        schema: Type.Object({
          label: Type.String({ description: "The label that they have now", examples: ["S3"] }),
          skipped: Type.Array(uuid, {
            description: "Segments that stay: they are redacted, gone, or not of `from` any more",
            examples: [[]],
          }),
        }),
      },
    },
    errors: ["conflict"],
    resolve: ({ principal, params }) =>
      requireSession(directory, principal, params.session_id, "session.edit"),
    async handle(request, { principal }) {
      const { params, body } = request;
      const command = {
        type: "ReassignSegments" as const,
        segmentIds: body.segment_ids,
        from: body.from,
        into: body.into ?? "",
        byUserId: principal.id,
      };
      const moved = await actors.ask(params.session_id, command, commandIdOf(request));
      return { status: 200, body: moved };
    },
  });
}
