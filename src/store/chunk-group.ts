import { type CommonQueryMethods, type DatabasePool, sql } from "slonik";
import { z } from "zod";
import type { OutboxRow } from "../api/sessions-outbox.ts";
import type { NewChunk } from "../api/upload-audio-store.ts";
import { MAX_MISSING } from "../session/limits.ts";
import { HIGHEST_SEQUENCE } from "./chunk-standing.ts";

export interface NewUpload {
  chunk: NewChunk;
  /** The command that tells the session. */
  outbox: OutboxRow;
}

const idRow = z.object({ id: z.string() });

const CHUNK_COLUMNS = sql.fragment`
  session_id, sequence, id, media_type, filename, bytes, sha256,
  frames, sample_rate, duration_seconds, recorded_at`;

const COLUMN_TYPES = [
  ...["uuid", "int4", "uuid", "text", "text", "int8", "text"],
  ...["int8", "int4", "float8", "timestamptz"],
  ...["uuid", "int2", "jsonb"],
];

/**
 * Stores the chunks that their sessions take without question, with their
 * commands, in one transaction. Returns the ids of those: the others, whose
 * session does not record, is locked by somebody, or has the sequence already,
 * are as they were.
 */
export function insertRecording(
  pool: DatabasePool,
  uploads: readonly NewUpload[],
): Promise<Set<string>> {
  return pool.transaction(async (tx) => {
    const sessions = await lockRecording(tx, uploads);
    if (sessions.length === 0) return new Set();
    const stored = await insertChunks(tx, sessions, uploads);
    return new Set(stored.map(({ id }) => id));
  });
}

/** Nobody is waited for: one session that is held up would hold up all. */
async function lockRecording(
  tx: CommonQueryMethods,
  uploads: readonly NewUpload[],
): Promise<string[]> {
  const ids = [...new Set(uploads.map(({ chunk }) => chunk.sessionId))];
  const rows = await tx.any(sql.type(idRow)`
    select id from sessions
    where id = any(${sql.array(ids, "uuid")}) and status = 'recording'
    order by id for no key update skip locked`);
  return rows.map(({ id }) => id);
}

/** A statement of its own, after the lock: it must see what was committed before the lock came. */
function insertChunks(
  tx: CommonQueryMethods,
  sessions: readonly string[],
  uploads: readonly NewUpload[],
): Promise<readonly { id: string }[]> {
  return tx.any(sql.type(idRow)`
    with given as (
      select * from ${sql.unnest(uploads.map(toRow), COLUMN_TYPES)} as g (
        session_id, sequence, id, media_type, filename, bytes, sha256,
        frames, sample_rate, duration_seconds, recorded_at, command_id, partition, command)
    ), taking as (
      select s.id, ${HIGHEST_SEQUENCE} as highest
      from sessions s where s.id = any(${sql.array([...sessions], "uuid")})
    ), stored as (
      insert into chunks (${CHUNK_COLUMNS})
      select g.session_id, g.sequence, g.id, g.media_type, g.filename, g.bytes,
        decode(g.sha256, 'hex'), g.frames, g.sample_rate, g.duration_seconds, g.recorded_at
      from given g join taking t on t.id = g.session_id
      where g.sequence <= t.highest + ${MAX_MISSING} and not exists (
        select from audio_pieces p where p.session_id = t.id and p.sequence = g.sequence)
      on conflict (session_id, sequence) do nothing
      returning id
    ), told as (
      insert into outbox (id, session_id, partition, command)
      select g.command_id, g.session_id, g.partition, g.command
      from given g join stored using (id)
    )
    select id from stored`);
}

function toRow({ chunk, outbox }: NewUpload): (string | number | null)[] {
  return [
    chunk.sessionId,
    chunk.sequence,
    chunk.id,
    chunk.mediaType,
    chunk.filename,
    chunk.bytes,
    chunk.sha256,
    chunk.frames,
    chunk.sampleRate,
    chunk.durationSeconds,
    chunk.recordedAt === undefined ? null : new Date(chunk.recordedAt).toISOString(),
    outbox.id,
    outbox.partition,
    JSON.stringify(outbox.command),
  ];
}
