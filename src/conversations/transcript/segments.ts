import { type Static, Type } from "@sinclair/typebox";
import { AppError } from "../../base/errors.ts";
import { isId } from "../../base/ids.ts";
import { decodeCursor, encodeCursor, pageQuery, pageSchema } from "../../rest/page.ts";
import { defineRoute, type Route } from "../../rest/route.ts";
import { requireSession } from "../sessions/access.ts";
import { sessionParams } from "../sessions/schema.ts";
import type { SessionStore } from "../sessions/store.ts";
import type { SegmentPosition, SegmentStore, TimelineSpan } from "./segments-store.ts";
import { presentRevised, presentWords } from "./writing/present-segments.ts";
import type { SegmentRecord } from "./writing/segment-record.ts";
import { revisedSegmentSchema } from "./writing/segment-schemas.ts";

interface SegmentOptions {
  directory: SessionStore;
  segments: SegmentStore & SegmentStore;
  /** Signs the cursors of lists. */
  cursorKey: Uint8Array;
}

/** Names a session's list, or that of a part of it, for its cursors. */
function listName(sessionId: string, { fromMs, toMs }: TimelineSpan = {}): string {
  const part = fromMs === undefined && toMs === undefined ? "" : `:${fromMs ?? ""}-${toMs ?? ""}`;
  return `segments:${sessionId}${part}`;
}

/** The cursor of the page after `position` of a session, or of a part of it. */
export function segmentCursor(
  cursorKey: Uint8Array,
  sessionId: string,
  position: SegmentPosition,
  span?: TimelineSpan,
): string {
  const { start, id } = position;
  return encodeCursor(cursorKey, listName(sessionId, span), [String(start), id]);
}

function positionOf(
  cursorKey: Uint8Array,
  list: string,
  cursor: string | undefined,
): SegmentPosition | undefined {
  if (cursor === undefined) return undefined;
  const [start, id] = decodeCursor(cursorKey, list, cursor);
  return { start: Number(start), id: String(id) };
}

interface WantedSegments {
  limit: number;
  cursor: string | undefined;
  span?: TimelineSpan;
}

/** A page of a session's segments, and the cursor of the next page; undefined at the end. */
export async function readSegmentPage(
  { segments, cursorKey }: { segments: SegmentStore; cursorKey: Uint8Array },
  sessionId: string,
  { limit, cursor, span = {} }: WantedSegments,
): Promise<{ page: SegmentRecord[]; next: string | undefined }> {
  const after = positionOf(cursorKey, listName(sessionId, span), cursor);
  const { page, last } = await segments.page(sessionId, { after, limit, span });
  const next = last === undefined ? undefined : segmentCursor(cursorKey, sessionId, last, span);
  return { page, next };
}

/** GET /sessions/{id}/segments and /sessions/{id}/segments/{segment_id}. */
export function segmentRoutes(options: SegmentOptions): Route[] {
  return [listSegments(options), getSegment(options)];
}

function getSegment({ directory, segments }: SegmentOptions): Route {
  return defineRoute({
    method: "get",
    path: "/sessions/{session_id}/segments/{segment_id}",
    id: "getSegment",
    tag: "Session",
    summary: "One segment as it stands",
    description:
      "Its words as they stand now, corrected or not, with their times. Its `ETag` is for PATCH.",
    auth: ["bearer", "service_key"],
    params: Type.Object({ session_id: Type.String(), segment_id: Type.String() }),
    responses: {
      200: {
        description: "The segment, without its words' times",
        schema: revisedSegmentSchema,
        example: { words: undefined },
      },
    },
    errors: ["elevation_required"],
    resolve: ({ principal, params }) =>
      requireSession(directory, principal, params.session_id, "session.content"),
    async handle({ params }) {
      const { session_id: sessionId, segment_id: segmentId } = params;
      const segment = isId(segmentId) ? await segments.find(sessionId, segmentId) : undefined;
      if (segment === undefined) {
        throw new AppError("not_found", "There is no segment with this id.");
      }
      return { status: 200, body: presentRevised(segment) };
    },
  });
}

const moment = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 0, maximum: 2_147_483_647, description }));

const segmentPage = pageSchema(revisedSegmentSchema);

export type SegmentPage = Static<typeof segmentPage>;

function listSegments(options: SegmentOptions): Route {
  const { directory } = options;
  return defineRoute({
    method: "get",
    path: "/sessions/{session_id}/segments",
    id: "listSegments",
    tag: "Session",
    summary: "Final segments of a session in order of time",
    auth: ["bearer", "service_key"],
    params: sessionParams,
    query: Type.Object({
      ...pageQuery,
      from_ms: moment("Those that end after it, on the session's timeline"),
      to_ms: moment("Those that begin before it, on the session's timeline"),
      words: Type.Optional(Type.Boolean({ description: "Add each segment's words" })),
    }),
    responses: { 200: { description: "A page of segments", schema: segmentPage } },
    errors: ["elevation_required"],
    resolve: ({ principal, params }) =>
      requireSession(directory, principal, params.session_id, "session.content"),
    async handle({ params, query }) {
      const span = { fromMs: query.from_ms, toMs: query.to_ms };
      const wanted = { limit: query.limit ?? 50, cursor: query.cursor, span };
      const { page, next } = await readSegmentPage(options, params.session_id, wanted);
      const items = page.map((segment) => ({
        ...presentRevised(segment),
        ...(query.words === true ? { words: presentWords(segment.words) } : {}),
      }));
      return { status: 200, body: { items, next_cursor: next ?? null } };
    },
  });
}
