import { type CommonQueryMethods, type DatabasePool, sql } from "slonik";
import { z } from "zod";
import { AppError } from "../../base/errors.ts";
import { type Runtime, systemRuntime } from "../../base/runtime.ts";
import { type OutboxRow, outboxRow, writeOutbox } from "../../postgres/outbox.ts";
import {
  FRAGMENTS_OF_LOG,
  RECORDED_FRAGMENT,
  RECORDED_FRAGMENTS,
  recordedFragments,
  saveCount,
} from "./audio-files/fragment-rows-store.ts";
import { insertChunk, type NewChunk, type StoredChunk } from "./chunk-store.ts";
import type { OpenAudio, OpenChunk, OpenChunks } from "./stream-records.ts";

const fragmentRow = z.object({
  mediaType: z.string(),
  sampleRate: z.number(),
  ...RECORDED_FRAGMENT,
});
const statusRow = z.object({ status: z.string() });
const countRow = z.object({ fragments: z.number() });
const chunkRow = z.object({ sessionId: z.string(), sequence: z.number() });

/** Open chunks in PostgreSQL: streamed audio that is not stored as chunks yet. */
export class PostgresOpenChunks implements OpenChunks {
  readonly #pool: DatabasePool;
  readonly #runtime: Pick<Runtime, "newId">;

  constructor(pool: DatabasePool, runtime: Pick<Runtime, "newId"> = systemRuntime) {
    this.#pool = pool;
    this.#runtime = runtime;
  }

  async read({ sessionId, sequence }: OpenChunk): Promise<OpenAudio | undefined> {
    const rows = await this.#pool.any(sql.type(fragmentRow)`
      select p.media_type as "mediaType", p.sample_rate as "sampleRate", ${RECORDED_FRAGMENTS}
      from audio_pieces p left join audio_streams a on a.session_id = p.session_id
      where p.session_id = ${sessionId} and p.sequence = ${sequence}
      order by p.piece`);
    const [first] = rows;
    if (first === undefined) return undefined;
    const format = { mediaType: first.mediaType, sampleRate: first.sampleRate };
    return { format, ...recordedFragments(rows) };
  }

  complete(
    chunk: NewChunk,
    fragments: number,
  ): Promise<{ chunk: StoredChunk; outbox: OutboxRow[] } | undefined> {
    const { id, sessionId, sequence, durationSeconds } = chunk;
    const unreadable = chunk.broken?.unreadable;
    return this.#pool.transaction(async (tx) => {
      const session = await tx.maybeOne(sql.type(statusRow)`
        select status from sessions where id = ${sessionId} for update`);
      if (session === null || session.status === "deleted") {
        throw new AppError("session_deleted", "The session was deleted.");
      }
      if ((await countFragments(tx, chunk)) !== fragments) return undefined;
      await insertChunk(tx, chunk);
      const command = {
        type: "ChunkStored" as const,
        chunkId: id,
        sequence,
        frames: chunk.frames,
        sampleRate: chunk.sampleRate,
        ...(unreadable === undefined ? {} : { unreadable }),
      };
      const row = outboxRow(sessionId, command, this.#runtime.newId());
      await writeOutbox(tx, row);
      await tx.query(sql.unsafe`
        delete from audio_pieces where session_id = ${sessionId} and sequence = ${sequence}`);
      // Resetting the count makes a late writer's append fail. No mistake in the bytes outlives the last
      // open chunk.
      await tx.query(sql.unsafe`
        update audio_streams
        set pieces = case when sequence = ${sequence} then 0 else pieces end,
            unsealed_bytes = case
              when exists (select from audio_pieces where session_id = ${sessionId})
              then greatest(unsealed_bytes - ${chunk.bytes}, 0) else 0 end
        where session_id = ${sessionId}`);
      return { chunk: { id, sequence, status: "pending", durationSeconds }, outbox: [row] };
    });
  }

  async of(sessionId: string): Promise<OpenChunk[]> {
    const rows = await this.#pool.any(sql.type(chunkRow)`
      select distinct session_id as "sessionId", sequence from audio_pieces
      where session_id = ${sessionId} order by sequence`);
    return [...rows];
  }

  abandoned(age: number, limit: number): Promise<OpenChunk[]> {
    return this.#pool.transaction(async (tx) => {
      const old = sql.fragment`now() - ${age} * interval '1 millisecond'`;
      const rows = await tx.any(sql.type(chunkRow)`
        select distinct p.session_id as "sessionId", p.sequence
        from audio_pieces p join audio_streams a on a.session_id = p.session_id
        where p.created_at < ${old}
          and (p.sequence is distinct from a.sequence or a.touched_at < ${old})
        order by 1, 2 limit ${limit}`);
      const ids = sql.array([...new Set(rows.map(({ sessionId }) => sessionId))], "uuid");
      await saveCount(tx, sql.fragment`a.session_id = any(${ids}) and a.touched_at < ${old}`);
      await tx.query(sql.unsafe`
        update audio_streams set sequence = null
        where session_id = any(${ids}) and touched_at < ${old}`);
      return [...rows];
    });
  }
}

async function countFragments(
  tx: CommonQueryMethods,
  { sessionId, sequence }: OpenChunk,
): Promise<number> {
  const { fragments } = await tx.one(sql.type(countRow)`
    select coalesce(max(${FRAGMENTS_OF_LOG}), count(*))::int as fragments
    from audio_pieces p left join audio_streams a on a.session_id = p.session_id
    where p.session_id = ${sessionId} and p.sequence = ${sequence}`);
  return fragments;
}

/** For whoever deletes a session. */
export async function eraseRecording(
  tx: CommonQueryMethods,
  { id }: { id: string },
): Promise<void> {
  await tx.query(sql.unsafe`
    update chunks set filename = '', error = '', silence_done = silence_wanted
    where session_id = ${id}`);
  // Streamed audio that is not part of a chunk yet.
  await tx.query(sql.unsafe`delete from audio_pieces where session_id = ${id}`);
  await tx.query(sql.unsafe`delete from audio_streams where session_id = ${id}`);
  await tx.query(sql.unsafe`delete from damaged_audio where session_id = ${id}`);
  await tx.query(sql.unsafe`delete from stored_audio where session_id = ${id}`);
}
