import {
  admit,
  type ChunkAdmission,
  type ChunkStore,
  type NewChunk,
  type StoredChunk,
} from "../../../src/conversations/recording/chunk-store.ts";
import { GroupCommit } from "../../../src/postgres/group-commit.ts";
import type { OutboxRow } from "../../../src/postgres/outbox.ts";
import { HELD, whenFree } from "../../../src/postgres/when-free.ts";
import { MAX_MISSING } from "../../../src/session/limits.ts";
import type { Conversation } from "./record-client.ts";
import type { RecordTables } from "./record-tables.ts";
import type { ChunkRow } from "./rows.ts";
import type { Statement } from "./statement.ts";
import type { TwinParts } from "./twin-journal.ts";

const DAY = 24 * 3_600_000;
const MAX_GROUP = 256;

interface Upload {
  chunk: NewChunk;
  outbox: OutboxRow;
}

type Stored = Awaited<ReturnType<ChunkStore["store"]>>;

/** Chunk rows over tables in memory: those that come at one moment share one transaction. */
export class TwinChunks implements ChunkStore {
  readonly #parts: TwinParts;
  readonly #group: GroupCommit<Upload, boolean>;

  constructor(parts: TwinParts) {
    this.#parts = parts;
    this.#group = new GroupCommit((uploads) => this.#storeAll(uploads), MAX_GROUP);
  }

  async find(
    sessionId: string,
    sequence: number,
    sha256: string,
  ): Promise<StoredChunk | undefined> {
    const { client, t } = this.#parts;
    const active = await client.query((s) => standingOf(s, t, sessionId, sequence));
    return admit(active, { sessionId, sequence, sha256 });
  }

  /** No simulated device sends the parts of a stream. */
  async partBefore(): Promise<{ kind: "other" }> {
    return { kind: "other" };
  }

  async store(chunk: NewChunk): Promise<Stored> {
    const { client, t, newId, runtime } = this.#parts;
    const { id: chunkId, sessionId, sequence, frames, sampleRate } = chunk;
    const command = { type: "ChunkStored" as const, chunkId, sequence, frames, sampleRate };
    const upload: Upload = { chunk, outbox: outboxRow(newId(), sessionId, command) };
    if (await this.#group.add(upload)) return created(upload);
    return whenFree(runtime, () => client.transaction((tx) => storeAlone(tx, t, upload)));
  }

  async #storeAll(uploads: readonly Upload[]): Promise<PromiseSettledResult<boolean>[]> {
    const { client, t } = this.#parts;
    const stored = await client.query((s) => storeRecording(s, t, uploads));
    return uploads.map(({ chunk }) => ({ status: "fulfilled", value: stored.has(chunk.id) }));
  }
}

export function outboxRow(id: string, sessionId: string, command: OutboxRow["command"]): OutboxRow {
  return { id, sessionId, command };
}

export async function writeOutbox(s: Statement, t: RecordTables, row: OutboxRow): Promise<void> {
  await s.insertNew(t.outbox, {
    id: row.id,
    session_id: row.sessionId,
    command: JSON.stringify(row.command),
    created_at: s.now,
    attempts: 0,
    not_before: s.now,
    parked_at: null,
    parked_reason: null,
  });
}

function created({ chunk, outbox }: Upload): Stored {
  const { id, sequence, durationSeconds } = chunk;
  const stored: StoredChunk = { id, sequence, status: "pending", durationSeconds };
  return { chunk: stored, created: true, outbox: [outbox] };
}

/** Of chunks and of what is being streamed; -1 when there is none. */
export function highestSequence(s: Statement, t: RecordTables, id: string): number {
  const sequences = [...s.all(t.chunks, id), ...s.all(t.pieces, id)].map((row) => row.sequence);
  return Math.max(-1, ...sequences);
}

function standingOf(
  s: Statement,
  t: RecordTables,
  id: string,
  sequence: number,
): ChunkAdmission | undefined {
  const session = s.get(t.sessions, id);
  if (session === undefined) return undefined;
  const chunk = s.get(t.chunks, `${id}:${sequence}`);
  return {
    status: session.status,
    closed: session.stopped_at !== null && session.stopped_at < s.now - DAY,
    silent: session.stop_reason === "device_silent",
    lastSequence: Math.max(highestSequence(s, t, id), session.last_chunk_sequence ?? -1),
    streamed: isStreamed(s, t, id, sequence),
    chunkId: chunk?.id,
    chunkStatus: chunk?.status,
    durationSeconds: chunk?.duration_seconds,
    sha256: chunk?.sha256,
  };
}

function isStreamed(s: Statement, t: RecordTables, id: string, sequence: number): boolean {
  return s.all(t.pieces, id).some((part) => part.sequence === sequence);
}

/**
 * Those that their sessions take without question. Each look is a statement of its own at the
 * database, so that the second sees what was committed before the locks came.
 */
async function storeRecording(
  s: Statement,
  t: RecordTables,
  uploads: readonly Upload[],
): Promise<Set<string>> {
  const wanted = [...new Set(uploads.map(({ chunk }) => chunk.sessionId))].sort();
  const held = new Set<string>();
  for (const id of wanted) {
    const session = s.next().lockNow(t.sessions, id, "no key update");
    if (session?.status === "recording") held.add(id);
  }
  const now = s.next();
  const highest = new Map([...held].map((id) => [id, reachOf(now, t, id)]));
  const stored = new Set<string>();
  for (const { chunk, outbox } of uploads) {
    const { id, sessionId, sequence } = chunk;
    const reach = highest.get(sessionId);
    if (reach === undefined || sequence > reach + MAX_MISSING) continue;
    if (isStreamed(now, t, sessionId, sequence)) continue;
    if (!(await now.insert(t.chunks, toRow(chunk, s.now)))) continue;
    await writeOutbox(now, t, outbox);
    stored.add(id);
  }
  return stored;
}

function reachOf(s: Statement, t: RecordTables, id: string): number {
  return Math.max(highestSequence(s, t, id), s.get(t.sessions, id)?.last_chunk_sequence ?? -1);
}

/** Whatever the session's state; throws why it does not take the chunk. */
async function storeAlone(
  tx: Conversation,
  t: RecordTables,
  upload: Upload,
): Promise<Stored | typeof HELD> {
  const { chunk, outbox } = upload;
  const { sessionId, sequence } = chunk;
  const locked = await tx.run((s) => s.lockNow(t.sessions, sessionId, "update"));
  const isHeld =
    locked === undefined && (await tx.run((s) => s.get(t.sessions, sessionId))) !== undefined;
  if (isHeld) return HELD;
  const active = await tx.run((s) => standingOf(s, t, sessionId, sequence));
  const known = admit(active, chunk);
  if (known !== undefined) return { chunk: known, created: false, outbox: [] };
  await tx.run((s) => insertChunk(s, t, chunk));
  await tx.run((s) => writeOutbox(s, t, outbox));
  return created(upload);
}

export async function insertChunk(s: Statement, t: RecordTables, chunk: NewChunk): Promise<void> {
  await s.insertNew(t.chunks, toRow(chunk, s.now));
}

function toRow(chunk: NewChunk, now: number): ChunkRow {
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
    status: "pending",
    error: "",
    start_sample: null,
    length_samples: null,
    uploaded_at: now,
    recorded_at: chunk.recordedAt ?? null,
    broken_spans: JSON.stringify(chunk.broken?.spans ?? []),
    silence_wanted: 0,
    silence_done: 0,
  };
}
