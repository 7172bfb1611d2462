import { type Static, Type } from "@sinclair/typebox";
import { toMilliseconds } from "../../base/audio/sample-rate.ts";
import { AppError } from "../../base/errors.ts";
import { isId } from "../../base/ids.ts";
import { cutPage, decodeCursor, encodeCursor, pageQuery, pageSchema } from "../../rest/page.ts";
import { defineRoute, type Route } from "../../rest/route.ts";
import { float, int32 } from "../../rest/schemas.ts";
import type { Word } from "../../session/write.ts";
import { TIMES_CLAMPED } from "../../wire/field-descriptions.ts";
import { resourceOverlaps } from "../../wire/overlaps.ts";
import { speakerConfidence } from "../../wire/speaker-confidence.ts";
import { requireSession } from "../sessions/access.ts";
import { sessionParams } from "../sessions/schema.ts";
import type { SessionStore } from "../sessions/store.ts";
import type { SegmentPosition, SegmentRecord, SegmentStore } from "./segments-store.ts";

interface SegmentOptions {
  directory: SessionStore;
  segments: SegmentStore & SegmentStore;
  /** Signs the cursors of lists. */
  cursorKey: Uint8Array;
}

export const wordSchema = Type.Object(
  {
    word: Type.String(),
    start_ms: Type.Integer(),
    end_ms: Type.Integer(),
    confidence: Type.Number(),
    unclear: Type.Optional(
      Type.Boolean({
        description:
          "True where the recogniser is likely to have misheard: below its engine's floor of confidence. Otherwise absent, as of words that a person edited",
      }),
    ),
    times_clamped: Type.Optional(Type.Boolean({ description: TIMES_CLAMPED })),
  },
  { $id: "Word" },
);

export const segmentSchema = Type.Object(
  {
    id: Type.String(),
    start_ms: int32,
    end_ms: int32,
    speaker_label: Type.Optional(Type.String()),
    text: Type.String(),
    confidence: Type.Optional(float),
  },
  { $id: "PlainSegment" },
);

/** A segment of a transcript, with what the interface's own segment does not tell. */
export const heardSegmentSchema = Type.Composite([
  segmentSchema,
  Type.Object({
    speaker_confidence: speakerConfidence,
    ...resourceOverlaps,
  }),
]);

export const revisedSegmentSchema = Type.Composite(
  [
    heardSegmentSchema,
    Type.Object({ revision: Type.Integer(), words: Type.Optional(Type.Array(wordSchema)) }),
  ],
  { $id: "Segment" },
);

/** A segment as in 2.2 of the interface. */
export function presentSegment(segment: SegmentRecord): Static<typeof segmentSchema> {
  return {
    id: segment.id,
    start_ms: toMilliseconds(segment.start),
    end_ms: toMilliseconds(segment.end),
    speaker_label: segment.label,
    text: segment.text,
    confidence: segment.confidence,
  };
}

export function presentHeard(segment: SegmentRecord): Static<typeof heardSegmentSchema> {
  return {
    ...presentSegment(segment),
    speaker_confidence: segment.speakerConfidence ?? null,
    ...presentOverlaps(segment),
  };
}

function presentOverlaps({
  overlaps = [],
}: SegmentRecord): Pick<Static<typeof heardSegmentSchema>, "also_speaking" | "overlaps"> {
  if (overlaps.length === 0) return {};
  return {
    also_speaking: [...new Set(overlaps.map(({ label }) => label))],
    overlaps: overlaps.map(({ label, segmentId, start, end }) => ({
      speaker_label: label,
      segment_id: segmentId,
      start_ms: toMilliseconds(start),
      end_ms: toMilliseconds(end),
    })),
  };
}

export function presentRevised(segment: SegmentRecord): Static<typeof revisedSegmentSchema> {
  return { ...presentHeard(segment), revision: segment.revision };
}

/** A segment's words, with those that are unclear marked. */
export function presentWords(words: readonly Word[]): Static<typeof wordSchema>[] {
  return words.map((word) => ({
    word: word.text,
    start_ms: toMilliseconds(word.start),
    end_ms: toMilliseconds(word.end),
    confidence: word.confidence,
    ...(word.unclear === true ? { unclear: true } : {}),
    ...(word.timesClamped === true ? { times_clamped: true } : {}),
  }));
}

const LIST = "segments";

/** The cursor of the page after `position` of a session. */
export function segmentCursor(
  cursorKey: Uint8Array,
  sessionId: string,
  position: SegmentPosition,
): string {
  return encodeCursor(cursorKey, `${LIST}:${sessionId}`, [String(position.start), position.id]);
}

function positionOf(
  cursorKey: Uint8Array,
  sessionId: string,
  cursor: string | undefined,
): SegmentPosition | undefined {
  if (cursor === undefined) return undefined;
  const [start, id] = decodeCursor(cursorKey, `${LIST}:${sessionId}`, cursor);
  return { start: Number(start), id: String(id) };
}

/** A page of a session's segments, and the cursor of the next page; undefined at the end. */
export async function readSegmentPage(
  { segments, cursorKey }: { segments: SegmentStore; cursorKey: Uint8Array },
  sessionId: string,
  { limit, cursor }: { limit: number; cursor: string | undefined },
): Promise<{ page: SegmentRecord[]; next: string | undefined }> {
  const after = positionOf(cursorKey, sessionId, cursor);
  const rows = await segments.segments(sessionId, { after, limit: limit + 1 });
  const { page, last } = cutPage(rows, limit);
  const next = last === undefined ? undefined : segmentCursor(cursorKey, sessionId, last);
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
      words: Type.Optional(Type.Boolean({ description: "Add each segment's words" })),
    }),
    responses: {
      200: { description: "A page of segments", schema: pageSchema(revisedSegmentSchema) },
    },
    errors: ["elevation_required"],
    resolve: ({ principal, params }) =>
      requireSession(directory, principal, params.session_id, "session.content"),
    async handle({ params, query }) {
      const wanted = { limit: query.limit ?? 50, cursor: query.cursor };
      const { page, next } = await readSegmentPage(options, params.session_id, wanted);
      const items = page.map((segment) => ({
        ...presentRevised(segment),
        ...(query.words === true ? { words: presentWords(segment.words) } : {}),
      }));
      return { status: 200, body: { items, next_cursor: next ?? null } };
    },
  });
}
