import { type DatabasePool, sql } from "slonik";
import { z } from "zod";
import { SESSION_RATE } from "../../base/audio/sample-rate.ts";
import { optionalColumn } from "../../postgres/optional-column.ts";
import { AUDIO_DAMAGED } from "../../session/status.ts";
import type { GapRecord } from "./writing/segment-record.ts";

/** Most missing sequences that are listed; a session that lacks more is broken anyway. */
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
const failedRow = placeRow.extend({ isDamaged: z.boolean() });
const sequenceRow = z.object({ sequence: z.number() });
const clampedRow = z.object({ sequence: z.number(), end: z.number(), excess: z.number() });

/** Reads what is stored of sessions' audio. Throws `unavailable` when storage is away. */
export class AudioInventoryStore {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  async of(sessionId: string): Promise<AudioInventory> {
    const { highest, ...figures } = await this.#figures(sessionId);
    const last = Math.max(highest, figures.ended ? (figures.expectedLast ?? -1) : -1);
    const [undecodable, damaged, broken, absent, late, clamped] = await Promise.all([
      this.#undecodable(sessionId, figures.end),
      this.#damaged(sessionId),
      this.#broken(sessionId),
      this.#absent(sessionId, last),
      this.#late(sessionId),
      this.#clamped(sessionId),
    ]);
    return { ...figures, undecodable, damaged, broken, absent, late, clamped };
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
    const rows = await this.#pool.any(sql.type(failedRow)`
      select sequence,
        coalesce(start_sample, ${end}::bigint) as start,
        coalesce(length_samples, 0) as length,
        coalesce((
          select e.payload ->> 'code' = ${AUDIO_DAMAGED} from events e
          where e.session_id = ${sessionId} and e.type = 'ChunkFailed'
            and (e.payload ->> 'sequence')::int = c.sequence
          order by e.seq desc limit 1
        ), false) as "isDamaged"
      from chunks c
      where session_id = ${sessionId} and status = 'failed'
      order by sequence`);
    return [...rows];
  }

  /** Of chunks that are read already, or will be. */
  async #damaged(sessionId: string) {
    const rows = await this.#pool.any(sql.type(placeRow)`
      select c.sequence, c.start_sample as start, c.length_samples as length
      from damaged_audio d join chunks c using (session_id, sequence)
      where d.session_id = ${sessionId} and d.mended_at is null
        and c.status = 'completed' and c.start_sample is not null
      order by c.sequence`);
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

  /** Chunks that are longer than their place; a difference of one sample is rounding. */
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

/** The stored audio of a session. Positions and lengths are samples at 16 kHz. */
export interface AudioInventory {
  /** Length of all stored chunks together, seconds. */
  seconds: number;
  /** Duration of audio that was not recognised yet, see `LAG`. */
  lagMs: number;
  /** The last sequence that belongs to the session, as stated at its stop. */
  expectedLast?: number;
  /** True when recording has ended. */
  ended: boolean;
  /** True when none of the audio could be read. */
  failed: boolean;
  /** True when every stored chunk was decoded or given up. */
  settled: boolean;
  /** End of the last chunk or gap on the timeline. */
  end: number;
  /** Length of the newest placed chunk, which is assumed for missing ones. */
  nominal: number;
  /** Chunks that are stored, but cannot be decoded; those that are damaged were whole once. */
  undecodable: (GapRecord & { isDamaged: boolean })[];
  /** Chunks that were read before their stored sound was damaged; their words stay. */
  damaged: GapRecord[];
  /** Parts of decodable chunks that cannot be decoded. */
  broken: GapRecord[];
  /** Sequences up to the last one with neither a chunk nor a gap on the timeline, in order. */
  absent: number[];
  /** Chunks that came after their gap was declared, and are not recognised yet. */
  late: GapRecord[];
  /** Chunks that are longer than their place on the timeline. */
  clamped: { sequence: number; end: number; excess: number }[];
  /** Missing chunks are accepted until this time, Unix milliseconds; undefined while it records. */
  acceptedUntil?: number;
}
