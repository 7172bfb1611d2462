import { Type } from "@sinclair/typebox";
import { maySession } from "../../access/policy.ts";
import { AppError } from "../../base/errors.ts";
import { isId, newId } from "../../base/ids.ts";
import { commandIdOf } from "../../rest/idempotency.ts";
import { expectedOf } from "../../rest/representations.ts";
import {
  acknowledge,
  acknowledged,
  defineRoute,
  type Request,
  type Route,
} from "../../rest/route.ts";
import type { SessionActors } from "../context.ts";
import { assertAllowed, requireSession } from "../sessions/access.ts";
import type { SessionCommandOptions } from "../sessions/actors.ts";
import type { SessionStore } from "../sessions/store.ts";
import type { SegmentEdits, SegmentStore } from "./segments-store.ts";
import { presentRevised } from "./writing/present-segments.ts";
import { revisedSegmentSchema } from "./writing/segment-schemas.ts";

const TAKEN_BACK = "The claim was taken back.";

interface SegmentEditOptions {
  directory: SessionStore;
  segments: SegmentStore;
  edits: SegmentEdits;
  actors: SessionActors;
}

/** PATCH /sessions/{id}/segments/{segment_id}. */
export function segmentEditRoutes(options: SegmentEditOptions): Route[] {
  const { directory, segments, edits, actors } = options;
  const edit = defineRoute({
    method: "patch",
    path: "/sessions/{session_id}/segments/{segment_id}",
    id: "editSegment",
    tag: "Session",
    throughActor: true,
    settlesStale: true,
    summary: "Correct a segment's text or speaker",
    description: "The recogniser never changes it again; a redo replaces it.",
    auth: ["bearer", "service_key"],
    params: Type.Object({ session_id: Type.String(), segment_id: Type.String() }),
    body: {
      kind: "json",
      schema: Type.Object({
        text: Type.Optional(Type.String({ minLength: 1, maxLength: 10_000, pattern: "\\S" })),
        speaker: Type.Optional(Type.String({ pattern: "^S[1-9][0-9]{0,5}$" })),
      }),
    },
    responses: {
      200: {
        description: "The segment as it stands",
        schema: revisedSegmentSchema,
        // A person said who speaks, so nobody tells how likely that is; words are told by lists alone.
        example: { revision: 2, speaker_confidence: null, words: undefined },
      },
    },
    errors: ["elevation_required", "conflict"],
    async resolve({ principal, params }) {
      const grant = await requireSession(directory, principal, params.session_id, "session.edit");
      if (!isId(params.segment_id)) {
        throw new AppError("not_found", "There is no segment with this id.");
      }
      // Required because the answer contains the words.
      assertAllowed(maySession(grant.principal, "session.content", grant.facts));
      return grant;
    },
    async handle(request, grant) {
      const { params, body } = request;
      const { session_id: sessionId, segment_id: segmentId } = params;
      const text = body.text?.replace(/\s+/g, " ").trim();
      if (text === undefined && body.speaker === undefined) {
        throw new AppError("invalid_body", "Send `text`, `speaker`, or both.");
      }
      const byUserId = grant.principal.id;
      const editId = text === undefined ? "" : newId();
      if (text !== undefined) {
        const known = await edits.put({ id: editId, sessionId, segmentId, text, byUserId });
        if (!known) throw new AppError("not_found", "There is no segment with this id.");
      }
      const label = body.speaker ?? "";
      await actors.ask(
        sessionId,
        { type: "EditSegment", segmentId, editId, label, byUserId, ...revisionOf(request) },
        commandIdOf(request),
      );
      const found = await segments.find(sessionId, segmentId);
      if (found === undefined) throw new AppError("not_found", "There is no segment with this id.");
      return { status: 200, body: presentRevised(found) };
    },
  });
  return [edit];
}

/** A revision that no segment has. */
const STALE = { expectedRevision: 0 };

function revisionOf(request: Pick<Request, "expected" | "isStale">): {
  expectedRevision?: number;
} {
  if (request.isStale === true) return STALE;
  const expected = expectedOf(request, revisedSegmentSchema);
  return expected === undefined ? {} : { expectedRevision: expected.revision };
}

/** DELETE /sessions/{id}/speaker-claims/{label}. */
export function unclaimRoutes({ directory, actors }: SessionCommandOptions): Route[] {
  const unclaim = defineRoute({
    method: "delete",
    path: "/sessions/{session_id}/speaker-claims/{label}",
    id: "unclaimSpeaker",
    tag: "Session",
    throughActor: true,
    summary: "Take a claim back",
    description: "By whoever claimed the label, or by the session's owner. Idempotent.",
    auth: ["bearer"],
    params: Type.Object({
      session_id: Type.String(),
      label: Type.String({ description: "Label of the voice: `S1`, `S2`, …", examples: ["S1"] }),
    }),
    responses: { 200: acknowledged(TAKEN_BACK) },
    errors: ["forbidden"],
    resolve: ({ principal, params }) =>
      requireSession(directory, principal, params.session_id, "session.claim"),
    async handle(request, { principal, facts }) {
      const { params } = request;
      const byOwner = facts.relation === "owner";
      const command = {
        type: "Unclaim" as const,
        label: params.label,
        byUserId: principal.id,
        byOwner,
      };
      await actors.ask(params.session_id, command, commandIdOf(request));
      return acknowledge(TAKEN_BACK);
    },
  });
  return [unclaim];
}
