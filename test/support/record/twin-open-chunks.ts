import { AppError } from "../../../src/base/errors.ts";
import type { NewChunk, StoredChunk } from "../../../src/conversations/recording/chunk-store.ts";
import type {
  OpenAudio,
  OpenChunk,
  OpenChunks,
} from "../../../src/conversations/recording/stream-records.ts";
import type { OutboxRow } from "../../../src/postgres/outbox.ts";
import type { RecordTables } from "./record-tables.ts";
import type { PieceRow } from "./rows.ts";
import type { Statement } from "./statement.ts";
import { insertChunk, outboxRow, writeOutbox } from "./twin-chunks.ts";
import type { TwinParts } from "./twin-journal.ts";

/** What was streamed and is to become chunks, over tables in memory. */
export class TwinOpenChunks implements OpenChunks {
  readonly #parts: TwinParts;

  constructor(parts: TwinParts) {
    this.#parts = parts;
  }

  async read(chunk: OpenChunk): Promise<OpenAudio | undefined> {
    const { client, t } = this.#parts;
    return client.query((s) => recordedFragments(s, t, chunk));
  }

  complete(
    chunk: NewChunk,
    fragments: number,
  ): Promise<{ chunk: StoredChunk; outbox: OutboxRow[] } | undefined> {
    const { client, t, newId } = this.#parts;
    const { id, sessionId, sequence, durationSeconds, frames, sampleRate } = chunk;
    const unreadable = chunk.broken?.unreadable;
    return client.transaction(async (tx) => {
      const session = await tx.run((s) => s.lock(t.sessions, sessionId, "update"));
      if (session === undefined || session.status === "deleted") {
        throw new AppError("session_deleted", "The session was deleted.");
      }
      const recorded = await tx.run((s) => recordedFragments(s, t, chunk));
      if (recorded?.fragments !== fragments) return undefined;
      await tx.run((s) => insertChunk(s, t, chunk));
      const row = outboxRow(newId(), sessionId, {
        type: "ChunkStored",
        chunkId: id,
        sequence,
        frames,
        sampleRate,
        ...(unreadable === undefined ? {} : { unreadable }),
      });
      await tx.run((s) => writeOutbox(s, t, row));
      const isIts = (fragment: PieceRow) => fragment.sequence === sequence;
      await tx.run((s) => s.removeAll(t.pieces, sessionId, isIts));
      await tx.run((s) =>
        s.update(
          t.streams,
          sessionId,
          () => ({ pieces: 0 }),
          (stream) => stream.sequence === sequence,
        ),
      );
      return { chunk: { id, sequence, status: "pending", durationSeconds }, outbox: [row] };
    });
  }

  of(sessionId: string): Promise<OpenChunk[]> {
    const { client, t } = this.#parts;
    return client.query((s) => {
      const sequences = new Set(s.all(t.pieces, sessionId).map(({ sequence }) => sequence));
      return [...sequences].sort((a, b) => a - b).map((sequence) => ({ sessionId, sequence }));
    });
  }

  abandoned(age: number, limit: number): Promise<OpenChunk[]> {
    const { client, t } = this.#parts;
    return client.transaction(async (tx) => {
      const found = await tx.run((s) => abandonedChunks(s, t, s.now - age, limit));
      await tx.run(async (s) => {
        for (const sessionId of new Set(found.map((chunk) => chunk.sessionId))) {
          const touchedAt = s.get(t.streams, sessionId)?.touched_at ?? s.now;
          if (touchedAt < s.now - age) await saveCount(s, t, sessionId);
          await s.update(
            t.streams,
            sessionId,
            () => ({ sequence: null }),
            ({ touched_at: at }) => at < s.now - age,
          );
        }
      });
      return found;
    });
  }
}

/** What is on record of a chunk's fragments; undefined when there are none. */
export function recordedFragments(
  s: Statement,
  t: RecordTables,
  chunk: OpenChunk,
): OpenAudio | undefined {
  const rows = fragmentsOf(s, t, chunk);
  const [first] = rows;
  if (first === undefined) return undefined;
  const stream = s.get(t.streams, chunk.sessionId);
  const counted = stream?.sequence === chunk.sequence ? stream.pieces : first.pieces;
  return {
    format: { mediaType: first.media_type, sampleRate: first.sample_rate },
    log: first.log ?? undefined,
    fragments: first.log === null ? rows.length : (counted ?? rows.length),
    rows: rows.flatMap(({ piece: index, frames, data }) =>
      data === null ? [] : [{ index, frames, data }],
    ),
  };
}

/** Keeps the number of fragments with the newest chunk of a stream, which is going to be another. */
export async function saveCount(s: Statement, t: RecordTables, sessionId: string): Promise<void> {
  const stream = s.get(t.streams, sessionId);
  if (stream === undefined) return;
  const { sequence, pieces } = stream;
  await s.updateAll(
    t.pieces,
    sessionId,
    (row) => row.sequence === sequence && row.piece === 0 && row.log !== null,
    () => ({ pieces }),
  );
}

function fragmentsOf(s: Statement, t: RecordTables, chunk: OpenChunk): PieceRow[] {
  return s
    .all(t.pieces, chunk.sessionId)
    .filter(({ sequence }) => sequence === chunk.sequence)
    .sort((a, b) => a.piece - b.piece);
}

function abandonedChunks(s: Statement, t: RecordTables, old: number, limit: number): OpenChunk[] {
  const found = new Map<string, OpenChunk>();
  for (const { session_id: sessionId, sequence, created_at: at } of s.all(t.pieces)) {
    const stream = s.get(t.streams, sessionId);
    if (stream === undefined || at >= old) continue;
    if (stream.sequence === sequence && stream.touched_at >= old) continue;
    found.set(`${sessionId}:${sequence}`, { sessionId, sequence });
  }
  return [...found.values()]
    .sort((a, b) =>
      a.sessionId === b.sessionId ? a.sequence - b.sequence : a.sessionId < b.sessionId ? -1 : 1,
    )
    .slice(0, limit);
}
