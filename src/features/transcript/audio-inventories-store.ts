import { type DatabasePool, sql } from "slonik";
import { z } from "zod";
import { SESSION_RATE } from "../../base/audio/sample-rate.ts";
import { optionalColumn } from "../../postgres/columns.ts";
import type { GapRecord } from "./segments-store.ts";

/** Sequences that are told one by one; a session that lacks more is broken anyway. */
const MAX_ABSENT = 10_000;

const figuresRow = z.object({
  ended: z.boolean(),
  failed: z.boolean(),
  expectedLast: optionalColumn(z.number()),
  seconds: z.number(),
  lagMs: z.number(),
  settled: z.boolean(),
  end: z.number(),
  nominal: z.number(),
  highest: z.number(),
  acceptedUntil: optionalColumn(z.number()),
});
const placeRow = z.object({ sequence: z.number(), start: z.number(), length: z.number() });
const sequenceRow = z.object({ sequence: z.number() });
const clampedRow = z.object({ sequence: z.number(), end: z.number(), excess: z.number() });

/** Throws `unavailable` when storage is away. */
export class AudioInventoryStore {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  async of(sessionId: string): Promise<AudioInventory> {
    const { highest, ...figures } = await this.#figures(sessionId);
    const last = Math.max(highest, figures.ended ? (figures.expectedLast ?? -1) : -1);
    const [undecodable, broken, absent, late, clamped] = await Promise.all([
      this.#undecodable(sessionId, figures.end),
      this.#broken(sessionId),
      this.#absent(sessionId, last),
      this.#late(sessionId),
      this.#clamped(sessionId),
    ]);
    return { ...figures, undecodable, broken, absent, late, clamped };
  }

  #figures(sessionId: string) {
    return this.#pool.one(sql.type(figuresRow)`
      select
        s.status <> 'recording' as ended,
        s.status = 'failed' as failed,
        s.last_chunk_sequence as "expectedLast",
        coalesce(sum(c.duration_seconds), 0)::float8 as seconds,
        session_lag_ms(s.id) as "lagMs",
        coalesce(bool_and(c.status in ('completed', 'failed')), true) as settled,
        coalesce(max(c.start_sample + c.length_samples), 0) as "end",
        coalesce(
          (array_agg(c.length_samples order by c.sequence desc)
            filter (where c.length_samples is not null))[1], 0) as nominal,
        coalesce(max(c.sequence), -1) as highest,
        s.stopped_at + interval '24 hours' as "acceptedUntil"
      from sessions s left join chunks c on c.session_id = s.id
      where s.id = ${sessionId}
      group by s.id`);
  }

  async #undecodable(sessionId: string, end: number) {
    const rows = await this.#pool.any(sql.type(placeRow)`
      select sequence,
        coalesce(start_sample, ${end}::bigint) as start,
        coalesce(length_samples, 0) as length
      from chunks
      where session_id = ${sessionId} and status = 'failed'
      order by sequence`);
    return [...rows];
  }

  async #broken(sessionId: string) {
    const rows = await this.#pool.any(sql.type(placeRow)`
      select c.sequence,
        c.start_sample + b.start * ${SESSION_RATE}::int / c.sample_rate as start,
        b.length * ${SESSION_RATE}::int / c.sample_rate as length
      from chunks c, jsonb_to_recordset(c.broken_spans) as b (start int8, length int8)
      where c.session_id = ${sessionId} and c.status <> 'failed' and c.start_sample is not null
      order by 1, 2`);
    return [...rows];
  }

  async #absent(sessionId: string, last: number): Promise<number[]> {
    const rows = await this.#pool.any(sql.type(sequenceRow)`
      select n as sequence from awaited_chunks(${sessionId}, ${last}, ${MAX_ABSENT}) as n`);
    return rows.map(({ sequence }) => sequence);
  }

  async #late(sessionId: string) {
    const rows = await this.#pool.any(sql.type(placeRow)`
      select c.sequence, coalesce(c.start_sample, g.start) as start,
        coalesce(c.length_samples, g.length) as length
      from chunks c join (
        select (payload ->> 'sequence')::int as sequence,
          max((payload ->> 'start')::bigint) as start, max((payload ->> 'length')::bigint) as length
        from events where session_id = ${sessionId} and type = 'GapDeclared'
        group by 1) g using (sequence)
      where c.session_id = ${sessionId} and c.status in ('pending', 'processing')
      order by c.sequence`);
    return [...rows];
  }

  /** Within a sample the length on the timeline is that of the sound, which is rounded. */
  async #clamped(sessionId: string) {
    const rows = await this.#pool.any(sql.type(clampedRow)`
      select sequence, start_sample + length_samples as "end",
        frames * ${SESSION_RATE}::int8 / sample_rate - length_samples as excess
      from chunks
      where session_id = ${sessionId} and status <> 'failed'
        and frames * ${SESSION_RATE}::int8 / sample_rate > length_samples + 1
      order by sequence`);
    return [...rows];
  }
}

/** What is stored of a session's audio. Positions and lengths are samples at 16 kHz. */
export interface AudioInventory {
  /** Length of all stored chunks together, seconds. */
  seconds: number;
  /** Length of what was not read yet, see `LAG`. */
  lagMs: number;
  /** Last sequence that belongs to it, as said at its stop. */
  expectedLast?: number;
  /** Nothing is recorded any more. */
  ended: boolean;
  /** Nothing that came could be read. */
  failed: boolean;
  /** Every stored chunk was decoded or given up. */
  settled: boolean;
  /** End of what has its place on the timeline. */
  end: number;
  /** Length of the newest chunk with a place: what a missing one is taken for. */
  nominal: number;
  /** Stored, but not decodable. */
  undecodable: GapRecord[];
  /** Parts of decodable ones that are not. */
  broken: GapRecord[];
  /** Sequences up to the last one with neither a chunk nor a gap on the timeline, in order. */
  absent: number[];
  /** Came after their gap had been declared, and are not read yet. */
  late: GapRecord[];
  /** Sound that is longer than the place on the timeline that was kept for it. */
  clamped: { sequence: number; end: number; excess: number }[];
  /** Until then missing chunks are taken, Unix milliseconds; unknown while it records. */
  acceptedUntil?: number;
}
