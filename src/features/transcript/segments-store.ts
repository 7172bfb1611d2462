import { type DatabasePool, sql } from "slonik";
import { z } from "zod";
import type { SegmentFinder, SegmentPosition, SegmentReader, SegmentRecord } from "./segments.ts";
import type { GapReader, GapRecord } from "./transcript.ts";

/** A word as `segments.words` holds it. */
export const wordColumn = z.object({
  text: z.string(),
  start: z.number(),
  end: z.number(),
  confidence: z.number(),
  unclear: z.boolean().optional(),
  timesClamped: z.boolean().optional(),
});

const segmentRow = z.object({
  id: z.string(),
  start: z.number(),
  end: z.number(),
  label: z.string(),
  text: z.string(),
  words: z.array(wordColumn),
  confidence: z.number(),
  revision: z.number(),
  redacted: z.boolean(),
});

const gapRow = z.object({ sequence: z.number(), start: z.number(), length: z.number() });

const COLUMNS = sql.fragment`id, start_sample as start, end_sample as "end", label, text, words,
  confidence, revision, redacted`;

/** Words and gaps of a session, for readers. */
export class PostgresSegments implements SegmentReader, SegmentFinder, GapReader {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  async segments(
    sessionId: string,
    page: { after?: SegmentPosition; limit?: number } = {},
  ): Promise<SegmentRecord[]> {
    const { after, limit } = page;
    const from =
      after === undefined
        ? sql.fragment`true`
        : sql.fragment`(start_sample, id) > (${after.start}::bigint, ${after.id}::uuid)`;
    const rows = await this.#pool.any(sql.type(segmentRow)`
      select ${COLUMNS} from segments
      where session_id = ${sessionId} and ${from}
      order by start_sample, id
      ${limit === undefined ? sql.fragment`` : sql.fragment`limit ${limit}`}
    `);
    return [...rows];
  }

  async find(sessionId: string, segmentId: string): Promise<SegmentRecord | undefined> {
    const row = await this.#pool.maybeOne(sql.type(segmentRow)`
      select ${COLUMNS} from segments where session_id = ${sessionId} and id = ${segmentId}
    `);
    return row ?? undefined;
  }

  async gaps(sessionId: string): Promise<GapRecord[]> {
    const rows = await this.#pool.any(sql.type(gapRow)`
      select sequence, start_sample as start, length_samples as length
      from session_gaps(${sessionId})
    `);
    return [...rows];
  }
}
