import { type DatabasePool, sql } from "slonik";
import { z } from "zod";
import type { Clock } from "../base/clock.ts";
import { AppError } from "../base/errors.ts";
import { deviceStanding } from "../session/presence.ts";
import type { HeartbeatFrame } from "../wire/live-frames.ts";
import { toSeconds } from "./live-frames.ts";
import { optionalColumn } from "./optional-column.ts";
import { guarded } from "./store-error.ts";

const standingRow = z.object({
  seq: z.number(),
  isRecording: z.boolean(),
  received: z.number(),
  finalised: z.number(),
  lagMs: z.number(),
  gaps: z.number(),
  lastSeenAt: optionalColumn(z.number()),
  telemetry: optionalColumn(z.record(z.unknown())),
});

/** How a session stands, from the record: what its actor beats while it is at work. */
export class LiveBeat {
  readonly #pool: DatabasePool;
  readonly #clock: Clock;

  constructor(pool: DatabasePool, clock: Clock) {
    this.#pool = pool;
    this.#clock = clock;
  }

  /** Throws `not_found` when there is no such session or it was deleted. */
  read(sessionId: string): Promise<HeartbeatFrame> {
    return guarded(async () => {
      const row = await this.#pool.maybeOne(sql.type(standingRow)`
        select s.seq, s.status = 'recording' as "isRecording",
          session_lag_ms(s.id) as "lagMs",
          coalesce(c.received, 0) as received, coalesce(c.finalised, 0) as finalised,
          greatest(c.highest, s.last_chunk_sequence, -1) + 1 - c.held as gaps,
          d.last_seen_at as "lastSeenAt", d.telemetry
        from sessions s
        left join devices d on d.id = s.device_id
        left join lateral (
          select count(*) as held, max(sequence) as highest,
            max(start_sample + length_samples) as received,
            max(start_sample + length_samples)
              filter (where status in ('completed', 'failed')) as finalised
          from chunks where session_id = s.id) c on true
        where s.id = ${sessionId} and s.status <> 'deleted'`);
      if (row === null) throw new AppError("not_found", "There is no session with this id.");
      const { received, finalised, lagMs, isRecording, lastSeenAt, telemetry = {} } = row;
      return {
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
    });
  }
}
