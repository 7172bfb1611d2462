import { Type } from "@sinclair/typebox";
import { maySession } from "../../access/policy.ts";
import { AppError } from "../../base/errors.ts";
import { isId, newId } from "../../base/ids.ts";
import { commandIdOf } from "../../rest/repeatable.ts";
import { expectedOf } from "../../rest/representations.ts";
import { defineRoute, type Request, type Route } from "../../rest/route.ts";
import type { SessionActors } from "../sessions/session-actors.ts";
import { assertAllowed, requireSession } from "../sessions/sessions-access.ts";
import type { SessionDirectory } from "../sessions/sessions-directory.ts";
import { presentRevised, revisedSegmentSchema, type SegmentFinder } from "./segments.ts";

/** Port: texts on their way from this route to the session that puts them in place. */
export interface SegmentEdits {
  /**
   * Keeps the text until the session takes it. Its words get times in
   * proportion to their length. False when there is no such segment.
   */
  put(edit: {
    id: string;
    sessionId: string;
    segmentId: string;
    text: string;
    byUserId: string;
  }): Promise<boolean>;
}

export interface SegmentEditPorts {
  directory: SessionDirectory;
  segments: SegmentFinder;
  edits: SegmentEdits;
  actors: SessionActors;
}

/** PATCH /sessions/{id}/segments/{segment_id}. */
export function segmentEditRoutes(ports: SegmentEditPorts): Route[] {
  const { directory, segments, edits, actors } = ports;
  const edit = defineRoute({
    method: "patch",
    path: "/sessions/{session_id}/segments/{segment_id}",
    id: "editSegment",
    tag: "Session",
    wish: true,
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
    responses: { 200: { description: "The segment as it stands", schema: revisedSegmentSchema } },
    errors: ["elevation_required", "conflict"],
    async resolve({ principal, params }) {
      const grant = await requireSession(directory, principal, params.session_id, "session.edit");
      if (!isId(params.segment_id)) {
        throw new AppError("not_found", "There is no segment with this id.");
      }
      // The answer shows the words.
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

/** No segment ever has this revision. */
const STALE = { expectedRevision: 0 };

function revisionOf(request: Pick<Request, "expected" | "isStale">): {
  expectedRevision?: number;
} {
  if (request.isStale === true) return STALE;
  const expected = expectedOf(request, revisedSegmentSchema);
  return expected === undefined ? {} : { expectedRevision: expected.revision };
}
