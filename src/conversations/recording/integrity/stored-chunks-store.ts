import { type DatabasePool, sql } from "slonik";
import { z } from "zod";
import { optionalColumn } from "../../../postgres/optional-column.ts";

const chunkRow = z.object({ sessionId: z.string(), sequence: z.number(), sha256: z.string() });
const bytesRow = z.object({ bytes: z.number() });
const roundRow = z.object({
  sessionId: optionalColumn(z.string()),
  sequence: optionalColumn(z.number()),
  chunks: z.number(),
  bytes: z.number(),
  damaged: z.number(),
  hasEnded: z.boolean(),
  isRecent: z.boolean(),
});

/** A chunk by its session and number. */
export interface ChunkPosition {
  sessionId: string;
  sequence: number;
}

interface StoredChunk extends ChunkPosition {
  /** Hex, of what was sent. */
  sha256: string;
}

/** What a check of stored audio came to. */
export interface ScrubTotals {
  chunks: number;
  bytes: number;
  damaged: number;
}

/** A round of checks of all stored audio. */
interface ScrubRound extends ScrubTotals {
  /** The last chunk that was looked at. */
  after?: ChunkPosition;
  hasEnded: boolean;
  /** It began within the last 24 hours. */
  isRecent: boolean;
}

/** The chunks of sessions that are not deleted, in a fixed order. Throws `unavailable`. */
export class StoredChunkStore {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  /** Those behind `after`, of one session or of all. */
  async page(
    limit: number,
    after: ChunkPosition | undefined,
    sessionId: string | undefined,
  ): Promise<readonly StoredChunk[]> {
    const behind =
      after === undefined
        ? sql.fragment`true`
        : sql.fragment`(c.session_id, c.sequence) > (${after.sessionId}::uuid, ${after.sequence})`;
    const within =
      sessionId === undefined ? sql.fragment`true` : sql.fragment`c.session_id = ${sessionId}`;
    return this.#pool.any(sql.type(chunkRow)`
      select c.session_id as "sessionId", c.sequence, encode(c.sha256, 'hex') as sha256
      from chunks c join sessions s on s.id = c.session_id
      where ${behind} and ${within} and s.status <> 'deleted'
      order by c.session_id, c.sequence limit ${limit}`);
  }

  /** Length of the stored audio of one session or of all, in bytes. */
  async bytes(sessionId: string | undefined): Promise<number> {
    const within =
      sessionId === undefined ? sql.fragment`true` : sql.fragment`session_id = ${sessionId}`;
    const { bytes } = await this.#pool.one(sql.type(bytesRow)`
      select coalesce(sum(bytes), 0)::bigint as bytes from stored_audio where ${within}`);
    return bytes;
  }

  /** The present round, or the last one; undefined before the first. */
  async round(): Promise<ScrubRound | undefined> {
    const row = await this.#pool.maybeOne(sql.type(roundRow)`
      select session_id as "sessionId", sequence, chunks, bytes, damaged,
        ended_at is not null as "hasEnded", begun_at > now() - interval '24 hours' as "isRecent"
      from audio_scrub`);
    if (row === null) return undefined;
    const { sessionId, sequence, ...round } = row;
    if (sessionId === undefined || sequence === undefined) return round;
    return { ...round, after: { sessionId, sequence } };
  }

  async beginRound(): Promise<void> {
    await this.#pool.query(sql.unsafe`
      insert into audio_scrub default values
      on conflict (is_one) do update set session_id = null, sequence = null, chunks = 0, bytes = 0,
        damaged = 0, begun_at = now(), ended_at = null`);
  }

  /** Adds to the round; without `next` it has ended. */
  async addToRound(
    { chunks, bytes, damaged }: ScrubTotals,
    next: ChunkPosition | undefined,
  ): Promise<void> {
    await this.#pool.query(sql.unsafe`
      update audio_scrub set session_id = ${next?.sessionId ?? null}::uuid,
        sequence = ${next?.sequence ?? null}::int, chunks = chunks + ${chunks},
        bytes = bytes + ${bytes}, damaged = damaged + ${damaged},
        ended_at = ${next === undefined ? sql.fragment`now()` : sql.fragment`null`}`);
  }
}
