import { type Static, Type } from "@sinclair/typebox";
import { toTimestamp } from "../../base/clock.ts";
import { cutPage, decodeCursor, encodeCursor } from "../../rest/page.ts";
import { defineRoute, type Route } from "../../rest/route.ts";
import { timestamp, uuid } from "../../rest/schemas.ts";
import type { Word } from "../../session/write.ts";
import { requireSession } from "../sessions/access.ts";
import { chunkStatus, sessionParams } from "../sessions/schema.ts";
import type { SessionStore } from "../sessions/store.ts";
import type { ChunkListStore, ChunkRecord, ChunkSpan } from "./chunks-store.ts";

interface ChunkOptions {
  directory: SessionStore;
  chunks: ChunkListStore;
  /** Signs the cursors of lists. */
  cursorKey: Uint8Array;
}

const chunkSchema = Type.Object(
  {
    chunk_id: uuid,
    chunk_sequence: Type.Integer(),
    filename: Type.String(),
    transcription_status: chunkStatus,
    transcription_text: Type.String(),
    message: Type.Optional(Type.String({ description: "Why it failed" })),
    uploaded_at: timestamp,
    started_at: Type.Optional(timestamp),
    duration_seconds: Type.Optional(
      Type.Number({ description: "Absent while it is not known, of a later part of a recording" }),
    ),
  },
  { $id: "Chunk" },
);

/** The limit has no default: without limit and cursor the list is complete. */
const chunkQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
  cursor: Type.Optional(Type.String({ maxLength: 1_024 })),
});

const listingSchema = Type.Object(
  {
    success: Type.Boolean(),
    chunks: Type.Array(chunkSchema, { description: "The chunks in order of their sequence" }),
    total_chunks: Type.Integer(),
    next_cursor: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  },
  { $id: "ChunkList" },
);

function presentChunk(chunk: ChunkRecord, text: string): Static<typeof chunkSchema> {
  return {
    chunk_id: chunk.id,
    chunk_sequence: chunk.sequence,
    filename: chunk.filename,
    transcription_status: chunk.status,
    transcription_text: chunk.status === "pending" ? "" : text,
    message: chunk.status === "failed" && chunk.error !== "" ? chunk.error : undefined,
    uploaded_at: toTimestamp(chunk.uploadedAt),
    started_at: chunk.recordedAt === undefined ? undefined : toTimestamp(chunk.recordedAt),
    duration_seconds: chunk.durationSeconds === 0 ? undefined : chunk.durationSeconds,
  };
}

async function textsOf(
  listing: ChunkListStore,
  sessionId: string,
  chunks: readonly ChunkRecord[],
): Promise<string[]> {
  let from = Number.POSITIVE_INFINITY;
  let to = 0;
  for (const { start, length } of chunks) {
    if (start === undefined || length === undefined) continue;
    from = Math.min(from, start);
    to = Math.max(to, start + length);
  }
  return chunkTexts(chunks, from < to ? await listing.words(sessionId, from, to) : []);
}

function positionOf(
  cursorKey: Uint8Array,
  sessionId: string,
  cursor: string | undefined,
): number | undefined {
  if (cursor === undefined) return undefined;
  return Number(decodeCursor(cursorKey, `chunks:${sessionId}`, cursor)[0]);
}

/** GET /sessions/{id}/chunks. */
export function chunkRoutes({ directory, chunks, cursorKey }: ChunkOptions): Route[] {
  const list = defineRoute({
    method: "get",
    path: "/sessions/{session_id}/chunks",
    id: "listChunks",
    tag: "Session",
    summary: "Uploaded chunks with their transcription",
    description: "All chunks, or a page of them when `limit` or `cursor` is given.",
    auth: ["bearer", "service_key"],
    params: sessionParams,
    query: chunkQuery,
    responses: { 200: { description: "The chunks in order", schema: listingSchema } },
    errors: ["elevation_required"],
    resolve: ({ principal, params }) =>
      requireSession(directory, principal, params.session_id, "session.content"),
    async handle({ params, query }) {
      const id = params.session_id;
      const paged = query.limit !== undefined || query.cursor !== undefined;
      const limit = query.limit ?? 50;
      const after = positionOf(cursorKey, id, query.cursor);
      const found = await chunks.chunks(id, paged ? { after, limit: limit + 1 } : {});
      const { page, last } = cutPage(found.chunks, paged ? limit : found.chunks.length);
      const texts = await textsOf(chunks, id, page);
      const body: Static<typeof listingSchema> = {
        success: true,
        chunks: page.map((chunk, index) => presentChunk(chunk, texts[index] ?? "")),
        total_chunks: found.total,
      };
      if (paged) {
        body.next_cursor = last
          ? encodeCursor(cursorKey, `chunks:${id}`, [String(last.sequence)])
          : null;
      }
      return { status: 200, body };
    },
  });
  return [list];
}

/**
 * The text of each chunk: the words whose middle lies in its span, in order of time. So a word on a
 * boundary belongs to one chunk, whole.
 */
export function chunkTexts(spans: readonly ChunkSpan[], words: readonly Word[]): string[] {
  const middles = words
    .map((word) => ({ text: word.text, middle: (word.start + word.end) / 2 }))
    .sort((a, b) => a.middle - b.middle);
  return spans.map(({ start, length }) => {
    if (start === undefined || length === undefined) return "";
    const texts: string[] = [];
    for (let at = lowerBound(middles, start); at < middles.length; at += 1) {
      const word = middles[at];
      if (word === undefined || word.middle >= start + length) break;
      texts.push(word.text);
    }
    return texts.join(" ");
  });
}

function lowerBound(middles: readonly { middle: number }[], from: number): number {
  let low = 0;
  let high = middles.length;
  while (low < high) {
    const at = (low + high) >>> 1;
    if ((middles[at]?.middle ?? 0) < from) low = at + 1;
    else high = at;
  }
  return low;
}
