import { type CommonQueryMethods, type DatabasePool, sql } from "slonik";
import { z } from "zod";
import { AppError } from "../../base/errors.ts";
import { LookupBatcher } from "../../base/lookup-batcher.ts";
import type { QueueFigures, QueueOwner } from "../../base/queue-metrics.ts";
import { type Runtime, systemRuntime } from "../../base/runtime.ts";
import { toInstant } from "../../postgres/columns.ts";
import { GroupCommit } from "../../postgres/group-commit.ts";
import { optionalColumn } from "../../postgres/optional-column.ts";
import { type OutboxRow, outboxRow, writeOutbox } from "../../postgres/outbox.ts";
import { HELD, whenFree } from "../../postgres/when-free.ts";
import { MAX_MISSING } from "../../session/limits.ts";
import type { ChunkStatus } from "../../session/status.ts";
import { type PartBefore, partBefore, savePart } from "../transcript/audio-parts-store.ts";

/** Parts of a chunk that no decoder can read. */
export interface BrokenAudio {
  /** Start and length of each part in frames of the chunk, in order. */
  spans: { start: number; length: number }[];
  /** Set when too little audio is left; the reason why the chunk fails. */
  unreadable?: string;
}

export interface NewChunk {
  id: string;
  sessionId: string;
  sequence: number;
  /**
   * The media type under which workers read it: `audio/wav`, or `audio/pcm` with its parameters.
   */
  mediaType: string;
  filename: string;
  bytes: number;
  /** Of what was sent, hex; of a file that was decoded for it too. */
  sha256: string;
  /** Of what is stored, where that is not what was sent. */
  storedSha256?: string;
  frames: number;
  sampleRate: number;
  durationSeconds: number;
  /** The parts that are known not to be audio. */
  broken?: BrokenAudio;
  /**
   * What the next part of the stream needs of this one; without a carry this one was not measured
   * yet, and its frames are 0.
   */
  part?: { head?: Uint8Array; carry?: Uint8Array };
  /** When its first frame was recorded according to the device, Unix milliseconds. */
  recordedAt: number | undefined;
}

export interface StoredChunk {
  id: string;
  sequence: number;
  status: ChunkStatus;
  durationSeconds: number;
}

/**
 * Port: chunk rows. Both methods throw `chunk_conflict` when the sequence holds other bytes,
 * `session_ended` when the session no longer takes this sequence, `session_deleted`, or
 * `unavailable` (outcome unknown: safe to repeat).
 */
export interface ChunkStore {
  /**
   * Returns the chunk when the same bytes are stored already, undefined when it may be stored. This
   * check beforehand saves writing the audio to disk; `store` catches what it misses.
   */
  find(sessionId: string, sequence: number, sha256: string): Promise<StoredChunk | undefined>;
  /**
   * Stores the chunk's row and the command to its session in one transaction under the session
   * row's lock; durable on return. The same bytes again change nothing and return the existing
   * chunk.
   */
  store(chunk: NewChunk): Promise<{ chunk: StoredChunk; created: boolean; outbox: OutboxRow[] }>;
  /** What a part of a stream at this sequence follows. */
  partBefore(sessionId: string, sequence: number): Promise<PartBefore>;
}

interface ChunkKey {
  sessionId: string;
  sequence: number;
  /** Hex. */
  sha256: string;
}

const admissionRow = z.object({
  place: z.number(),
  status: z.enum(["recording", "processing", "completed", "failed", "deleted"]),
  /** True when the session was stopped longer ago than late chunks are accepted. */
  closed: z.boolean(),
  /** True when the service stopped the session because nothing came from its device. */
  silent: z.boolean(),
  /** Highest sequence that belongs to the session; -1 when there is none. */
  lastSequence: z.number(),
  streamed: z.boolean(),
  chunkId: optionalColumn(z.string()),
  chunkStatus: optionalColumn(z.enum(["pending", "processing", "completed", "failed"])),
  durationSeconds: optionalColumn(z.number()),
  sha256: optionalColumn(z.string()),
});

/** The state that decides whether a session takes a sequence. */
export type ChunkAdmission = Omit<z.output<typeof admissionRow>, "place">;

/** SQL for the highest sequence of chunks and streamed audio; -1 when there is none. */
const HIGHEST_SEQUENCE = sql.fragment`greatest(
  (select coalesce(max(sequence), -1) from chunks where session_id = s.id),
  (select coalesce(max(sequence), -1) from audio_pieces where session_id = s.id),
  coalesce(s.last_chunk_sequence, -1)
)`;

/** Results in the order of the keys; undefined where there is no such session. */
async function readAdmissions(
  connection: CommonQueryMethods,
  keys: readonly ChunkKey[],
): Promise<(ChunkAdmission | undefined)[]> {
  const asked = keys.map(({ sessionId, sequence }) => [sessionId, sequence]);
  const rows = await connection.any(sql.type(admissionRow)`
    select
      k.place::integer,
      s.status,
      coalesce(s.stopped_at < now() - interval '24 hours', false) as closed,
      s.stop_reason is not distinct from 'device_silent' as silent,
      ${HIGHEST_SEQUENCE} as "lastSequence",
      exists (
        select from audio_pieces p where p.session_id = s.id and p.sequence = k.sequence
      ) as streamed,
      c.id as "chunkId",
      c.status as "chunkStatus",
      c.duration_seconds as "durationSeconds",
      encode(c.sha256, 'hex') as sha256
    from ${sql.unnest(asked, ["uuid", "int4"])} with ordinality as k (session, sequence, place)
    join sessions s on s.id = k.session
    left join chunks c on c.session_id = s.id and c.sequence = k.sequence
  `);
  const found = new Map(rows.map((row) => [row.place, row]));
  return keys.map((_, index) => found.get(index + 1));
}

/**
 * Returns the chunk when the same bytes are stored; undefined when the session takes the sequence.
 * Throws otherwise.
 */
export function admit(
  admission: ChunkAdmission | undefined,
  { sequence, sha256 }: ChunkKey,
): StoredChunk | undefined {
  if (admission === undefined) throw new AppError("not_found", "There is no session with this id.");
  if (admission.status === "deleted") {
    throw new AppError("session_deleted", "The session was deleted.");
  }
  const { chunkId: id, chunkStatus: status, durationSeconds } = admission;
  if (id === undefined || status === undefined || durationSeconds === undefined) {
    assertTaken(admission, sequence);
    return undefined;
  }
  if (admission.sha256 !== sha256) {
    throw new AppError(
      "chunk_conflict",
      `Chunk ${sequence} of this session is stored with other bytes. Use another chunk_sequence.`,
    );
  }
  return { id, sequence, status, durationSeconds };
}

function assertTaken(admission: ChunkAdmission, sequence: number): void {
  const { lastSequence } = admission;
  if (sequence > lastSequence + MAX_MISSING) {
    throw new AppError(
      "invalid_body",
      `chunk_sequence ${sequence} is too far ahead: the highest one so far is ${lastSequence}, and at most ${MAX_MISSING} may be missing in a row.`,
    );
  }
  if (admission.status !== "recording") assertAwaited(admission, sequence);
  if (!admission.streamed) return;
  throw new AppError(
    "chunk_conflict",
    `Chunk ${sequence} of this session is being streamed. Use another chunk_sequence.`,
  );
}

/** Checks that a stopped session still waits for this sequence; throws otherwise. */
function assertAwaited({ silent, closed, lastSequence }: ChunkAdmission, sequence: number): void {
  if (sequence > lastSequence && silent) {
    throw new AppError(
      "session_ended",
      "The session was stopped because nothing came from its device for too long. Start a new one.",
    );
  }
  if (sequence > lastSequence) {
    throw new AppError(
      "session_ended",
      lastSequence < 0
        ? "The session has ended without any chunk; it takes no more."
        : `The session has ended with chunk ${lastSequence}; it takes none beyond that.`,
    );
  }
  if (closed) {
    throw new AppError(
      "session_ended",
      "The session ended more than 24 hours ago; it takes no more chunks.",
    );
  }
}

interface NewUpload {
  chunk: NewChunk;
  /** The command to the session's actor. */
  outbox: OutboxRow;
}

const idRow = z.object({ id: z.string() });

/**
 * Stores, in one commit with their commands, the chunks whose sessions are recording and not locked
 * and do not have the sequence yet. Returns the ids of the stored ones; the others are unchanged.
 * It is a database function because its locks and the reads after them need separate statements,
 * each of which would cost a round trip.
 */
async function storeRecording(
  connection: CommonQueryMethods,
  uploads: readonly NewUpload[],
): Promise<Set<string>> {
  const rows = await connection.any(sql.type(idRow)`
    select store_chunks(${JSON.stringify(uploads.map(toRow))}::jsonb) as id`);
  return new Set(rows.map(({ id }) => id));
}

/** An upload with the member names of `store_chunks`. */
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

const nothing = z.object({}).strict();

/** Most chunks of all uploads to this process that are written in one transaction. */
const MAX_GROUP = 256;
/** Most sessions whose next sequence is remembered. */
const MAX_EXPECTED = 10_000;

interface Stored {
  chunk: StoredChunk;
  created: boolean;
  outbox: OutboxRow[];
}

/**
 * Chunk rows in PostgreSQL. Stop and deletion change the same session row that `store` locks, so no
 * chunk is stored that the session's state forbids. Chunks that come at the same time share one
 * commit.
 */
export class PostgresChunkStore implements ChunkStore, QueueOwner {
  readonly #pool: DatabasePool;
  readonly #runtime: Runtime;
  readonly #admissions: LookupBatcher<ChunkKey, ChunkAdmission>;
  readonly #group: GroupCommit<NewUpload, boolean>;
  /**
   * The sequence after the newest one of each session that was stored here; the oldest entry first.
   */
  readonly #expected = new Map<string, number>();

  constructor(pool: DatabasePool, runtime: Runtime = systemRuntime) {
    this.#pool = pool;
    this.#runtime = runtime;
    this.#admissions = new LookupBatcher((keys) => readAdmissions(pool, keys));
    this.#group = new GroupCommit((uploads) => this.#storeAll(uploads), MAX_GROUP);
  }

  get queues(): readonly QueueFigures[] {
    return [this.#group.figures("chunks")];
  }

  async find(
    sessionId: string,
    sequence: number,
    sha256: string,
  ): Promise<StoredChunk | undefined> {
    // The expected sequence is nearly always new; `store` checks it anyway.
    if (this.#expected.get(sessionId) === sequence) return undefined;
    const key = { sessionId, sequence, sha256 };
    return admit(await this.#admissions.get(key), key);
  }

  partBefore(sessionId: string, sequence: number): Promise<PartBefore> {
    return partBefore(this.#pool, sessionId, sequence);
  }

  async store(chunk: NewChunk): Promise<Stored> {
    const { id: chunkId, sessionId, sequence, frames, sampleRate } = chunk;
    const isUnmeasured = chunk.part !== undefined && chunk.part.carry === undefined;
    const command = {
      type: "ChunkStored" as const,
      chunkId,
      sequence,
      frames,
      sampleRate,
      ...(isUnmeasured && { unmeasured: true }),
    };
    const outbox = outboxRow(sessionId, command, this.#runtime.newId());
    const upload: NewUpload = { chunk, outbox };
    this.#expected.delete(sessionId);
    // The group writes neither the rows of a stream's parts nor the digests of decoded files.
    const isPlain = chunk.part === undefined && chunk.storedSha256 === undefined;
    const isGrouped = isPlain && (await this.#group.add(upload));
    const stored = isGrouped
      ? created(upload)
      : await whenFree(this.#runtime, () => this.#pool.transaction((tx) => storeAlone(tx, upload)));
    this.#expect(sessionId, sequence + 1);
    return stored;
  }

  #expect(sessionId: string, sequence: number): void {
    this.#expected.set(sessionId, sequence);
    if (this.#expected.size <= MAX_EXPECTED) return;
    for (const oldest of this.#expected.keys()) {
      this.#expected.delete(oldest);
      return;
    }
  }

  /** True for each stored chunk; the others are stored one by one. */
  async #storeAll(uploads: readonly NewUpload[]): Promise<PromiseSettledResult<boolean>[]> {
    const stored = await storeRecording(this.#pool, uploads);
    return uploads.map(({ chunk }) => ({ status: "fulfilled", value: stored.has(chunk.id) }));
  }
}

function created({ chunk, outbox }: NewUpload): Stored {
  const { id, sequence, durationSeconds } = chunk;
  const stored: StoredChunk = { id, sequence, status: "pending", durationSeconds };
  return { chunk: stored, created: true, outbox: [outbox] };
}

/**
 * Stores one chunk in any state of the session; throws the reason when the session does not take
 * it.
 */
async function storeAlone(
  tx: CommonQueryMethods,
  upload: NewUpload,
): Promise<Stored | typeof HELD> {
  const { chunk, outbox } = upload;
  const locked = await tx.exists(sql.type(nothing)`
    select from sessions where id = ${chunk.sessionId} for update skip locked`);
  if (!locked && (await isThere(tx, chunk.sessionId))) return HELD;
  // A separate statement after the lock, so that it sees everything committed before the lock was
  // granted.
  const [admission] = await readAdmissions(tx, [chunk]);
  const known = admit(admission, chunk);
  if (known !== undefined) return { chunk: known, created: false, outbox: [] };
  await insertChunk(tx, chunk);
  if (chunk.part !== undefined) await savePart(tx, chunk, chunk.part);
  await writeOutbox(tx, outbox);
  return created(upload);
}

function isThere(tx: CommonQueryMethods, sessionId: string): Promise<boolean> {
  return tx.exists(sql.type(nothing)`select from sessions where id = ${sessionId}`);
}

export async function insertChunk(connection: CommonQueryMethods, chunk: NewChunk): Promise<void> {
  await connection.query(sql.type(nothing)`
    insert into chunks (
      session_id, sequence, id, media_type, filename, bytes, sha256,
      frames, sample_rate, duration_seconds, recorded_at, broken_spans, stored_sha256
    ) values (
      ${chunk.sessionId}, ${chunk.sequence}, ${chunk.id}, ${chunk.mediaType}, ${chunk.filename},
      ${chunk.bytes}, decode(${chunk.sha256}, 'hex'),
      ${chunk.frames}, ${chunk.sampleRate}, ${chunk.durationSeconds},
      ${chunk.recordedAt === undefined ? null : toInstant(chunk.recordedAt)},
      ${JSON.stringify(chunk.broken?.spans ?? [])}::jsonb,
      decode(${chunk.storedSha256 ?? null}, 'hex')
    )
  `);
}
