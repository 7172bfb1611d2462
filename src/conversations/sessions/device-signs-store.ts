import { type DatabasePool, sql } from "slonik";
import { z } from "zod";
import { AppError } from "../../base/errors.ts";
import { optionalColumn } from "../../postgres/optional-column.ts";
import type { DeviceSigns, Signs } from "../../session/device-signs.ts";

const signsRow = z.object({
  heardAgo: z.number(),
  chunkAgo: optionalColumn(z.number()),
  openChunks: z.array(z.number()),
});

/** Reads when a session's device was last heard, by the database's clock alone. */
export class PostgresDeviceSigns implements DeviceSigns {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  /**
   * Milliseconds since the session's device was last heard in any way, and since the newest chunk
   * of the session was stored (`chunkAgo` is undefined when there is none); sequences of open
   * chunks in order. Throws `not_found`.
   */
  async of(sessionId: string): Promise<Signs> {
    const row = await this.#pool.maybeOne(sql.type(signsRow)`
      select
        ${ago(sql.fragment`greatest(
          d.last_seen_at, a.touched_at, c.uploaded_at, s.started_at,
          -- Stopped by the service itself it is no sign of anybody.
          case when s.stop_reason is null then s.stopped_at end)`)} as "heardAgo",
        ${ago(sql.fragment`c.uploaded_at`)} as "chunkAgo",
        array(select distinct p.sequence from audio_pieces p where p.session_id = s.id order by 1)
          as "openChunks"
      from sessions s
      left join devices d on d.id = s.device_id
      left join audio_streams a on a.session_id = s.id
      left join lateral (
        select uploaded_at from chunks
        where session_id = s.id order by uploaded_at desc limit 1) c on true
      where s.id = ${sessionId}`);
    if (row === null) throw new AppError("not_found", "There is no session with this id.");
    const { heardAgo, chunkAgo, openChunks } = row;
    return { heardAgo, chunkAgo, openChunks };
  }
}

/**
 * SQL for whole milliseconds since `instant`; 0 for an instant in the future, which another clock
 * set.
 */
function ago(instant: ReturnType<typeof sql.fragment>): ReturnType<typeof sql.fragment> {
  return sql.fragment`case when ${instant} is not null
    then greatest(0, extract(epoch from now() - ${instant}) * 1000)::int8 end`;
}
