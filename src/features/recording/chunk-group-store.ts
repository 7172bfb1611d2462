import { type CommonQueryMethods, sql } from "slonik";
import { z } from "zod";
import type { OutboxRow } from "../../postgres/sessions-outbox.ts";
import { MAX_MISSING } from "../../session/limits.ts";
import type { NewChunk } from "./upload-audio-store.ts";

export interface NewUpload {
  chunk: NewChunk;
  /** The command that tells the session. */
  outbox: OutboxRow;
}

const idRow = z.object({ id: z.string() });

/**
 * Stores the chunks that their sessions take without question, with their
 * commands, in one commit. Returns the ids of those: the others, whose session
 * does not record, is locked by somebody, or has the sequence already, are as
 * they were. A function of the database, as the locks and what is seen after
 * them take statements of their own, and each would be a trip there.
 */
export async function storeRecording(
  connection: CommonQueryMethods,
  uploads: readonly NewUpload[],
): Promise<Set<string>> {
  const rows = await connection.any(sql.type(idRow)`
    select store_chunks(${JSON.stringify(uploads.map(toRow))}::jsonb) as id`);
  return new Set(rows.map(({ id }) => id));
}

/** Members as `store_chunks` names them. */
function toRow({ chunk, outbox }: NewUpload): object {
  return {
    session_id: chunk.sessionId,
    sequence: chunk.sequence,
    id: chunk.id,
    media_type: chunk.mediaType,
    filename: chunk.filename,
    bytes: chunk.bytes,
    sha256: chunk.sha256,
    frames: chunk.frames,
    sample_rate: chunk.sampleRate,
    duration_seconds: chunk.durationSeconds,
    recorded_at: chunk.recordedAt === undefined ? null : new Date(chunk.recordedAt).toISOString(),
    max_missing: MAX_MISSING,
    command_id: outbox.id,
    command: outbox.command,
  };
}
