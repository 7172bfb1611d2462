import { type CommonQueryMethods, type DatabasePool, sql } from "slonik";
import { z } from "zod";
import type { QueueFigures, QueueOwner } from "../../base/queue-metrics.ts";
import { ReadBatch } from "../../base/read-batch.ts";
import { type Runtime, systemRuntime } from "../../base/runtime.ts";
import { GroupCommit } from "../../postgres/group-commit.ts";
import { toInstant } from "../../postgres/instant.ts";
import { outboxRow, writeOutbox } from "../../postgres/outbox-writer.ts";
import type { OutboxRow } from "../../postgres/sessions-outbox.ts";
import { HELD, whenFree } from "../../postgres/when-free.ts";
import { type NewUpload, storeRecording } from "./chunk-group-store.ts";
import { admit, type ChunkKey, type ChunkStanding, readStandings } from "./chunk-standing-store.ts";
import type { ChunkStore, NewChunk, StoredChunk } from "./upload-audio-store.ts";

const nothing = z.object({}).strict();

/** Chunks of all uploads to this process that are written in one transaction. */
const MAX_GROUP = 256;
/** Sessions whose next chunk is expected. */
const MAX_EXPECTED = 10_000;

interface Stored {
  chunk: StoredChunk;
  created: boolean;
  outbox: OutboxRow[];
}

/**
 * Chunk rows. Stop and delete flip the same session row that `store` locks, so
 * that nothing slips in that the state forbids. Chunks that come at one moment
 * share one commit.
 */
export class PostgresChunkStore implements ChunkStore, QueueOwner {
  readonly #pool: DatabasePool;
  readonly #runtime: Runtime;
  readonly #standings: ReadBatch<ChunkKey, ChunkStanding>;
  readonly #group: GroupCommit<NewUpload, boolean>;
  /** The sequence after the newest one of each session that was stored here, the oldest first. */
  readonly #expected = new Map<string, number>();

  constructor(pool: DatabasePool, runtime: Runtime = systemRuntime) {
    this.#pool = pool;
    this.#runtime = runtime;
    this.#standings = new ReadBatch((keys) => readStandings(pool, keys));
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
    // Nearly always it may be stored, which `store` finds out anyway.
    if (this.#expected.get(sessionId) === sequence) return undefined;
    const key = { sessionId, sequence, sha256 };
    return admit(await this.#standings.get(key), key);
  }

  async store(chunk: NewChunk): Promise<Stored> {
    const { id: chunkId, sessionId, sequence, frames, sampleRate } = chunk;
    const command = { type: "ChunkStored", chunkId, sequence, frames, sampleRate };
    const outbox = outboxRow(sessionId, command, this.#runtime.newId());
    const upload: NewUpload = { chunk, outbox };
    this.#expected.delete(sessionId);
    const stored = (await this.#group.add(upload))
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

  /** True for each that is stored; the others are looked at one by one. */
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

/** Whatever the session's state; throws why it does not take the chunk. */
async function storeAlone(
  tx: CommonQueryMethods,
  upload: NewUpload,
): Promise<Stored | typeof HELD> {
  const { chunk, outbox } = upload;
  const locked = await tx.exists(sql.type(nothing)`
    select from sessions where id = ${chunk.sessionId} for update skip locked`);
  if (!locked && (await isThere(tx, chunk.sessionId))) return HELD;
  // A statement of its own, after the lock: it must see what was committed before the lock came.
  const [standing] = await readStandings(tx, [chunk]);
  const known = admit(standing, chunk);
  if (known !== undefined) return { chunk: known, created: false, outbox: [] };
  await insertChunk(tx, chunk);
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
      frames, sample_rate, duration_seconds, recorded_at, broken_spans
    ) values (
      ${chunk.sessionId}, ${chunk.sequence}, ${chunk.id}, ${chunk.mediaType}, ${chunk.filename},
      ${chunk.bytes}, decode(${chunk.sha256}, 'hex'),
      ${chunk.frames}, ${chunk.sampleRate}, ${chunk.durationSeconds},
      ${chunk.recordedAt === undefined ? null : toInstant(chunk.recordedAt)},
      ${JSON.stringify(chunk.broken?.spans ?? [])}::jsonb
    )
  `);
}
