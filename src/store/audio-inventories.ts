import { type DatabasePool, sql } from "slonik";
import { z } from "zod";
import type { AudioInventories, AudioInventory } from "../api/session-completeness.ts";
import { SESSION_RATE } from "../base/sample-rate.ts";
import { optionalColumn } from "./optional-column.ts";
import { guarded } from "./store-error.ts";

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
});
const placeRow = z.object({ sequence: z.number(), start: z.number(), length: z.number() });
const sequenceRow = z.object({ sequence: z.number() });

export class PostgresAudioInventories implements AudioInventories {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  of(sessionId: string): Promise<AudioInventory> {
    return guarded(async () => {
      const { highest, ...figures } = await this.#figures(sessionId);
      const last = Math.max(highest, figures.ended ? (figures.expectedLast ?? -1) : -1);
      const [undecodable, broken, absent, late] = await Promise.all([
        this.#undecodable(sessionId, figures.end),
        this.#broken(sessionId),
        this.#absent(sessionId, last),
        this.#late(sessionId),
      ]);
      return { ...figures, undecodable, broken, absent, late };
    });
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
        coalesce(max(c.sequence), -1) as highest
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
      select n as sequence
      from generate_series(0, ${last}::int) as n
      where n not in (select sequence from chunks where session_id = ${sessionId})
        and n not in (
          select (payload ->> 'sequence')::int from events
          where session_id = ${sessionId} and type = 'GapDeclared')
      order by n
      limit ${MAX_ABSENT}`);
    return rows.map(({ sequence }) => sequence);
  }

  async #late(sessionId: string): Promise<number[]> {
    const rows = await this.#pool.any(sql.type(sequenceRow)`
      select sequence from chunks
      where session_id = ${sessionId}
        and sequence in (
          select (payload ->> 'sequence')::int from events
          where session_id = ${sessionId} and type = 'GapDeclared')
      order by sequence`);
    return rows.map(({ sequence }) => sequence);
  }
}
