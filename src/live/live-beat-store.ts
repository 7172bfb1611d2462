import { type DatabasePool, sql } from "slonik";
import { z } from "zod";
import { toSeconds } from "../base/audio/sample-rate.ts";
import type { Clock } from "../base/clock.ts";
import { AppError } from "../base/errors.ts";
import { ReadBatch } from "../base/read-batch.ts";
import { optionalColumn } from "../postgres/optional-column.ts";
import { deviceStanding } from "../session/presence.ts";
import type { HeartbeatFrame, SessionBeat } from "../wire/live-frames.ts";

const standingRow = z.object({
  id: z.string(),
  seq: z.number(),
  isRecording: z.boolean(),
  isOver: z.boolean(),
  received: z.number(),
  finalised: z.number(),
  lagMs: z.number(),
  gaps: z.number(),
  lastSeenAt: optionalColumn(z.number()),
  telemetry: optionalColumn(z.record(z.unknown())),
});
type Standing = z.output<typeof standingRow>;

/** How sessions stand, from the record: what their actors beat while they are at work. */
export class LiveBeat {
  readonly #pool: DatabasePool;
  readonly #clock: Clock;
  readonly #standings: ReadBatch<string, Standing>;

  constructor(pool: DatabasePool, clock: Clock) {
    this.#pool = pool;
    this.#clock = clock;
    this.#standings = new ReadBatch((ids) => this.#read(ids));
  }

  /** Many at a time with one query. Throws `not_found` when there is no such session or it was deleted. */
  async read(sessionId: string): Promise<SessionBeat> {
    const row = await this.#standings.get(sessionId);
    if (row === undefined) throw new AppError("not_found", "There is no session with this id.");
    const { received, finalised, lagMs, isRecording, isOver, lastSeenAt, telemetry = {} } = row;
    const frame: HeartbeatFrame = {
      type: "Heartbeat",
      session_id: sessionId,
      seq: row.seq,
      audio_received: toSeconds(received),
      audio_finalised: toSeconds(finalised),
      lag_ms: lagMs,
      gaps: row.gaps,
      ...(isRecording &&
        lastSeenAt !== undefined && {
          device: deviceStanding(lastSeenAt, telemetry, this.#clock.now()),
        }),
    };
    return { frame, isOver };
  }

  /**
   * By the ends of what is there and by the gaps, which are few: it costs the same however long a
   * session is. All up to the last that has a place was stored or is a gap that was declared.
   */
  async #read(ids: readonly string[]): Promise<(Standing | undefined)[]> {
    const rows = await this.#pool.any(sql.type(standingRow)`
      select s.id, s.seq, s.status = 'recording' as "isRecording",
        s.status in ('completed', 'failed') as "isOver",
        session_lag_ms(s.id) as "lagMs",
        coalesce(placed.to, 0) as received, coalesce(final.to, 0) as finalised,
        declared.open + greatest(newest.sequence, s.last_chunk_sequence, settled.sequence)
          - settled.sequence - above.held as gaps,
        d.last_seen_at as "lastSeenAt", d.telemetry
      from sessions s
      left join devices d on d.id = s.device_id
      left join lateral (
        select sequence, start_sample + length_samples as to from chunks
        where session_id = s.id and start_sample is not null
        order by start_sample desc, sequence desc limit 1) placed on true
      left join lateral (
        select start_sample + length_samples as to from chunks
        where session_id = s.id and start_sample is not null and status in ('completed', 'failed')
        order by start_sample desc, sequence desc limit 1) final on true
      cross join lateral (
        select count(*) filter (where not exists (
            select from chunks where session_id = s.id and sequence = gap.sequence)) as open,
          max(gap.sequence) as last
        from (
          select (payload ->> 'sequence')::int as sequence from events
          where session_id = s.id and type = 'GapDeclared') gap) declared
      cross join lateral (select greatest(placed.sequence, declared.last, -1) as sequence) settled
      cross join lateral (
        select max(sequence) as sequence from chunks where session_id = s.id) newest
      cross join lateral (
        select count(*) as held from chunks
        where session_id = s.id and sequence > settled.sequence) above
      where s.id = any(${sql.array([...ids], "uuid")}) and s.status <> 'deleted'`);
    const found = new Map(rows.map((row) => [row.id, row]));
    return ids.map((id) => found.get(id));
  }
}
