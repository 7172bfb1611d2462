import { type DatabasePool, sql } from "slonik";
import { z } from "zod";
import type { AwaitedChunks } from "./awaited-audio.ts";
import { PostgresDeviceSigns } from "./device-signs-store.ts";

/** Most sequences that are read. */
const MOST_NAMED = 1_000;

const awaitedRow = z.object({
  sequences: z.array(z.number()),
  now: z.number(),
  stoppedAgo: z.number(),
});

/**
 * Finds the audio that stopped sessions still wait for. Throws `unavailable` when storage is away.
 */
export class AwaitedAudioStore {
  readonly #pool: DatabasePool;
  readonly #signs: PostgresDeviceSigns;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
    this.#signs = new PostgresDeviceSigns(pool);
  }

  /** Undefined when the session is still recording, or waits for nothing. */
  async of(sessionId: string): Promise<AwaitedChunks | undefined> {
    const row = await this.#pool.maybeOne(sql.type(awaitedRow)`
      select
        array(select awaited_chunks(s.id, s.last_chunk_sequence, ${MOST_NAMED})) as sequences,
        now() as now,
        (extract(epoch from now() - s.stopped_at) * 1000)::int8 as "stoppedAgo"
      from sessions s
      where s.id = ${sessionId} and s.status = 'processing' and s.stopped_at is not null`);
    if (row === null || row.sequences.length === 0) return undefined;
    const { heardAgo, chunkAgo, openChunks } = await this.#signs.of(sessionId);
    // Streamed audio has come, even if it is not a chunk yet.
    const sequences = row.sequences.filter((sequence) => !openChunks.includes(sequence));
    if (sequences.length === 0) return undefined;
    const { now, stoppedAgo } = row;
    return { sequences, now, stoppedAgo, heardAgo, chunkAgo };
  }
}
