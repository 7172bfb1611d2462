import { type DatabasePool, sql } from "slonik";
import { z } from "zod";
import { optionalColumn } from "../../postgres/optional-column.ts";
import type { ChunkStatus } from "../../session/status.ts";
import type { Word } from "../../session/write.ts";
import { wordsColumn } from "./writing/segment-row.ts";

const chunkRow = z.object({
  id: z.string(),
  sequence: z.number(),
  filename: z.string(),
  status: z.enum(["pending", "processing", "completed", "failed"]),
  error: z.string(),
  uploadedAt: z.number(),
  recordedAt: optionalColumn(z.number()),
  durationSeconds: z.number(),
  start: optionalColumn(z.number()),
  length: optionalColumn(z.number()),
});
const totalRow = z.object({ total: z.number() });
const wordsRow = z.object({ words: wordsColumn });

/**
 * Stored chunks of sessions and the words in their spans, for readers. Throws `unavailable` when
 * storage is away.
 */
export class ChunkListStore {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  /**
   * Chunks by sequence, after `after`; all of them without a limit. `total` counts the whole
   * session.
   */
  async chunks(
    sessionId: string,
    page: { after?: number; limit?: number },
  ): Promise<{ chunks: ChunkRecord[]; total: number }> {
    const { after = -1, limit } = page;
    const rows = await this.#pool.any(sql.type(chunkRow)`
      select
        id, sequence, filename, status, error,
        uploaded_at as "uploadedAt",
        recorded_at as "recordedAt",
        duration_seconds as "durationSeconds",
        start_sample as start,
        length_samples as length
      from chunks
      where session_id = ${sessionId} and sequence > ${after}
      order by sequence
      ${limit === undefined ? sql.fragment`` : sql.fragment`limit ${limit}`}
    `);
    const total = await this.#pool.oneFirst(sql.type(totalRow)`
      select count(*)::int as total from chunks where session_id = ${sessionId}
    `);
    return { chunks: [...rows], total };
  }

  /** Words that touch [from, to), samples at 16 kHz. */
  async words(sessionId: string, from: number, to: number): Promise<Word[]> {
    const rows = await this.#pool.any(sql.type(wordsRow)`
      select words
      from segments
      where session_id = ${sessionId} and start_sample < ${to} and end_sample > ${from}
      order by start_sample, id
    `);
    return rows.flatMap(({ words }) => words);
  }
}

export interface ChunkRecord extends ChunkSpan {
  id: string;
  sequence: number;
  filename: string;
  status: ChunkStatus;
  /** Why it failed; "" otherwise. */
  error: string;
  /** Unix milliseconds. */
  uploadedAt: number;
  /** When it was recorded according to the device, Unix milliseconds. */
  recordedAt?: number;
  durationSeconds: number;
}

export interface ChunkSpan {
  /** Position and length in samples at 16 kHz; undefined until the chunk has its place. */
  start?: number;
  length?: number;
}
