import { Type } from "@sinclair/typebox";
import { maySession } from "../../access/policy.ts";
import { toTimestamp } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import { isId } from "../../base/ids.ts";
import { cutPage, decodeCursor, encodeCursor, pageQuery, pageSchema } from "../../rest/page.ts";
import { defineRoute, type Route } from "../../rest/route.ts";
import { timestamp } from "../../rest/schemas.ts";
import { assertAllowed, requireSession } from "../sessions/access.ts";
import type { SessionStore } from "../sessions/store.ts";
import type { LineChange, LineHistoryStore } from "./line-history-store.ts";
import type { SegmentStore } from "./segments-store.ts";

interface LineHistoryOptions {
  directory: SessionStore;
  segments: Pick<SegmentStore, "find">;
  history: LineHistoryStore;
  /** Signs the cursors of lists. */
  cursorKey: Uint8Array;
}

const changeSchema = Type.Object(
  {
    at: timestamp,
    by_user_id: Type.String({
      format: "uuid",
      description: "Who changed it: a user, or a service key",
    }),
    by_name: Type.Optional(
      Type.String({
        description: "Name of that person; absent where none is known",
        examples: ["Ada"],
      }),
    ),
    speaker_before: Type.String({ description: "The label that it had", examples: ["S1"] }),
    speaker_after: Type.String({ description: "The label that it got", examples: ["S1"] }),
    text_before: Type.Optional(
      Type.String({
        description:
          "The words before. Absent, as `text_after`, where only the speaker changed, and where the segment was redacted since",
        examples: ["we meet in york"],
      }),
    ),
    text_after: Type.Optional(
      Type.String({ description: "The words after", examples: ["We meet in New York."] }),
    ),
  },
  { $id: "SegmentChange" },
);

/** GET /sessions/{id}/segments/{segment_id}/history. */
export function lineHistoryRoutes(options: LineHistoryOptions): Route[] {
  const { directory, segments, history, cursorKey } = options;
  const list = defineRoute({
    method: "get",
    path: "/sessions/{session_id}/segments/{segment_id}/history",
    id: "listSegmentChanges",
    tag: "Session",
    summary: "Who changed a segment, when, and how it read before",
    description:
      "Newest first, for those who may edit the session. Changes of words and of the speaker by people, since this route is there; merges of labels do not count. A redaction erases the words of it, and a reading that replaces the segment all of it.",
    auth: ["bearer", "service_key"],
    params: Type.Object({ session_id: Type.String(), segment_id: Type.String() }),
    query: Type.Object(pageQuery),
    responses: {
      200: { description: "A page of changes", schema: pageSchema(changeSchema) },
    },
    errors: ["elevation_required"],
    async resolve({ principal, params }) {
      const grant = await requireSession(directory, principal, params.session_id, "session.edit");
      assertAllowed(maySession(grant.principal, "session.content", grant.facts));
      return grant;
    },
    async handle({ params, query }) {
      const { session_id: sessionId, segment_id: segmentId } = params;
      const segment = isId(segmentId) ? await segments.find(sessionId, segmentId) : undefined;
      if (segment === undefined) {
        throw new AppError("not_found", "There is no segment with this id.");
      }
      const name = `changes:${segmentId}`;
      const limit = query.limit ?? 50;
      const [from] = query.cursor === undefined ? [] : decodeCursor(cursorKey, name, query.cursor);
      const before = from === undefined ? undefined : Number(from);
      const found = await history.page(sessionId, segmentId, { before, limit: limit + 1 });
      const { page, last } = cutPage(found, limit);
      const next = last === undefined ? null : encodeCursor(cursorKey, name, [String(last.id)]);
      return { status: 200, body: { items: page.map(presentChange), next_cursor: next } };
    },
  });
  return [list];
}

function presentChange(change: LineChange) {
  const { at, byUserId, byName, labelBefore, labelAfter, textBefore, textAfter } = change;
  return {
    at: toTimestamp(at),
    by_user_id: byUserId,
    by_name: byName,
    speaker_before: labelBefore,
    speaker_after: labelAfter,
    text_before: textBefore,
    text_after: textAfter,
  };
}
