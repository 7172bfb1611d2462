import { type Static, Type } from "@sinclair/typebox";
import { toMilliseconds } from "../../base/audio/sample-rate.ts";
import { toTimestamp } from "../../base/clock.ts";
import { timestamp } from "../../rest/timestamp.ts";
import { CONCERN_CATEGORIES, CONCERN_STATUSES, type ConcernRecord } from "./concerns-book.ts";

export const concernParams = Type.Object({
  concern_id: Type.String({ description: "UUID of the concern" }),
});

export const concernCategory = Type.Union(CONCERN_CATEGORIES.map((each) => Type.Literal(each)));
export const concernStatus = Type.Union(CONCERN_STATUSES.map((each) => Type.Literal(each)));

export const concernSchema = Type.Object({
  id: Type.String(),
  session_id: Type.String(),
  category: concernCategory,
  status: concernStatus,
  content_visible: Type.Boolean({
    description: "False when the texts are closed to an administrator without an elevation",
  }),
  description: Type.Optional(
    Type.String({ description: "Absent when not visible, and after the session was deleted" }),
  ),
  resolution: Type.Optional(Type.String({ description: "What was done about it, or why not" })),
  segment_id: Type.Optional(Type.String()),
  start_ms: Type.Optional(Type.Integer()),
  end_ms: Type.Optional(Type.Integer()),
  raised_by: Type.Object({
    kind: Type.Union([Type.Literal("user"), Type.Literal("guest"), Type.Literal("service")]),
    id: Type.String(),
    display_name: Type.Optional(Type.String()),
  }),
  handled_by: Type.Optional(Type.String({ description: "Who changed it last" })),
  redaction_id: Type.Optional(Type.String({ description: "The redaction that resolved it" })),
  created_at: timestamp,
  updated_at: timestamp,
  closed_at: Type.Optional(timestamp),
});

/** A concern as the API shows it; `readable` says whether with its texts. */
export function presentConcern(
  concern: ConcernRecord,
  readable: boolean,
): Static<typeof concernSchema> {
  const { span, raisedBy, closedAt } = concern;
  const shown = (text: string): string | undefined => (readable && text !== "" ? text : undefined);
  return {
    id: concern.id,
    session_id: concern.sessionId,
    category: concern.category,
    status: concern.status,
    content_visible: readable,
    description: shown(concern.description),
    resolution: shown(concern.resolution),
    segment_id: concern.segmentId,
    start_ms: span && toMilliseconds(span.from),
    end_ms: span && toMilliseconds(span.to),
    raised_by: { kind: raisedBy.kind, id: raisedBy.id, display_name: raisedBy.displayName },
    handled_by: concern.handledById,
    redaction_id: concern.redactionId,
    created_at: toTimestamp(concern.createdAt),
    updated_at: toTimestamp(concern.updatedAt),
    closed_at: closedAt === undefined ? undefined : toTimestamp(closedAt),
  };
}
