import { type CommonQueryMethods, type DatabasePool, sql } from "slonik";
import { z } from "zod";
import type { OutboxRow } from "../api/sessions-outbox.ts";
import type { ChunkStore, NewChunk, StoredChunk } from "../api/upload-audio-store.ts";
import { AppError } from "../base/errors.ts";
import { MAX_MISSING } from "../session/limits.ts";
import type { SessionPhase } from "../session/status.ts";
import { highestSequence } from "./audio-streams.ts";
import { toInstant } from "./instant.ts";
import { outboxRow, writeOutbox } from "./outbox-writer.ts";
import { guarded } from "./store-error.ts";

const nothing = z.object({}).strict();
const chunkRow = z.object({
  id: z.string(),
  sequence: z.number(),
  status: z.enum(["pending", "processing", "completed", "failed"]),
  durationSeconds: z.number(),
  sha256: z.string(),
});
const sessionRow = z.object({
  status: z.enum(["recording", "processing", "completed", "failed", "deleted"]),
  closed: z.boolean(),
  silent: z.boolean(),
  lastSequence: z.number(),
});

interface Intake {
  status: SessionPhase;
  /** Stopped longer ago than late chunks are waited for. */
  closed: boolean;
  /** Stopped by the service, because nothing came from its device. */
  silent: boolean;
  /** Highest sequence that belongs to the session; -1 when there is none. */
  lastSequence: number;
}

/**
 * Chunk rows. Stop and delete flip the same session row that `store` locks, so
 * that nothing slips in that the state forbids.
 */
export class PostgresChunkStore implements ChunkStore {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  find(sessionId: string, sequence: number, sha256: string): Promise<StoredChunk | undefined> {
    return guarded(() => admit(this.#pool, sessionId, sequence, sha256, sql.fragment``));
  }

  store(chunk: NewChunk): Promise<{ chunk: StoredChunk; created: boolean; outbox: OutboxRow[] }> {
    return guarded(() =>
      this.#pool.transaction(async (tx) => {
        const lock = sql.fragment`for update`;
        const known = await admit(tx, chunk.sessionId, chunk.sequence, chunk.sha256, lock);
        if (known !== undefined) return { chunk: known, created: false, outbox: [] };
        const row = outboxRow(chunk.sessionId, {
          type: "ChunkStored",
          chunkId: chunk.id,
          sequence: chunk.sequence,
          frames: chunk.frames,
          sampleRate: chunk.sampleRate,
        });
        await insertChunk(tx, chunk);
        await writeOutbox(tx, row);
        return { chunk: fresh(chunk), created: true, outbox: [row] };
      }),
    );
  }
}

function fresh({ id, sequence, durationSeconds }: NewChunk): StoredChunk {
  return { id, sequence, status: "pending", durationSeconds };
}

/** The chunk when the same bytes are there; undefined when the session takes the sequence. */
async function admit(
  connection: CommonQueryMethods,
  sessionId: string,
  sequence: number,
  sha256: string,
  lock: ReturnType<typeof sql.fragment>,
): Promise<StoredChunk | undefined> {
  const intake = await readIntake(connection, sessionId, lock);
  if (intake === undefined) throw new AppError("not_found", "There is no session with this id.");
  if (intake.status === "deleted") {
    throw new AppError("session_deleted", "The session was deleted.");
  }
  const known = await readChunk(connection, sessionId, sequence);
  if (known === undefined) {
    assertTaken(intake, sequence);
    await assertNotStreamed(connection, sessionId, sequence);
    return undefined;
  }
  if (known.sha256 !== sha256) {
    throw new AppError(
      "chunk_conflict",
      `Chunk ${sequence} of this session is stored with other bytes. Use another chunk_sequence.`,
    );
  }
  const { id, status, durationSeconds } = known;
  return { id, sequence, status, durationSeconds };
}

function assertTaken(intake: Intake, sequence: number): void {
  if (sequence > intake.lastSequence + MAX_MISSING) {
    throw new AppError(
      "invalid_body",
      `chunk_sequence ${sequence} is too far ahead: the highest one so far is ${intake.lastSequence}, and at most ${MAX_MISSING} may be missing in a row.`,
    );
  }
  if (intake.status === "recording") return;
  if (sequence > intake.lastSequence && intake.silent) {
    throw new AppError(
      "session_ended",
      "The session was stopped because nothing came from its device for too long. Start a new one.",
    );
  }
  if (sequence > intake.lastSequence) {
    throw new AppError(
      "session_ended",
      intake.lastSequence < 0
        ? "The session has ended without any chunk; it takes no more."
        : `The session has ended with chunk ${intake.lastSequence}; it takes none beyond that.`,
    );
  }
  if (intake.closed) {
    throw new AppError(
      "session_ended",
      "The session ended more than 24 hours ago; it takes no more chunks.",
    );
  }
}

async function assertNotStreamed(
  connection: CommonQueryMethods,
  sessionId: string,
  sequence: number,
): Promise<void> {
  const streamed = await connection.exists(sql.type(nothing)`
    select 1 from audio_pieces where session_id = ${sessionId} and sequence = ${sequence}`);
  if (!streamed) return;
  throw new AppError(
    "chunk_conflict",
    `Chunk ${sequence} of this session is being streamed. Use another chunk_sequence.`,
  );
}

async function readIntake(
  connection: CommonQueryMethods,
  sessionId: string,
  lock: ReturnType<typeof sql.fragment>,
): Promise<Intake | undefined> {
  const session = await connection.maybeOne(sql.type(sessionRow)`
    select
      status,
      coalesce(stopped_at < now() - interval '24 hours', false) as closed,
      stop_reason is not distinct from 'device_silent' as silent,
      coalesce(last_chunk_sequence, -1) as "lastSequence"
    from sessions
    where id = ${sessionId}
    ${lock}
  `);
  if (session === null) return undefined;
  // A statement of its own, after the lock: it must see what was committed before the lock came.
  const highest = await highestSequence(connection, sessionId);
  return { ...session, lastSequence: Math.max(session.lastSequence, highest) };
}

async function readChunk(
  connection: CommonQueryMethods,
  sessionId: string,
  sequence: number,
): Promise<z.output<typeof chunkRow> | undefined> {
  const row = await connection.maybeOne(sql.type(chunkRow)`
    select
      id,
      sequence,
      status,
      duration_seconds as "durationSeconds",
      encode(sha256, 'hex') as sha256
    from chunks
    where session_id = ${sessionId} and sequence = ${sequence}
  `);
  return row ?? undefined;
}

export async function insertChunk(connection: CommonQueryMethods, chunk: NewChunk): Promise<void> {
  await connection.query(sql.type(nothing)`
    insert into chunks (
      session_id, sequence, id, media_type, filename, bytes, sha256,
      frames, sample_rate, duration_seconds, recorded_at
    ) values (
      ${chunk.sessionId}, ${chunk.sequence}, ${chunk.id}, ${chunk.mediaType}, ${chunk.filename},
      ${chunk.bytes}, decode(${chunk.sha256}, 'hex'),
      ${chunk.frames}, ${chunk.sampleRate}, ${chunk.durationSeconds},
      ${chunk.recordedAt === undefined ? null : toInstant(chunk.recordedAt)}
    )
  `);
}
