import { type CommonQueryMethods, type DatabasePool, sql } from "slonik";
import { z } from "zod";
import { type OutboxRow, writeOutbox } from "../../postgres/outbox.ts";
import { isWaiting, type WaitingWorkStore } from "../../postgres/waiting-work.ts";
import { markStopped } from "./device-sessions-store.ts";

const idRow = z.object({ id: z.string() });

/** Finds and stops sessions that record while nothing comes from their device. */
export class SilentSessionStore {
  readonly #pool: DatabasePool;
  readonly #pendingWork: WaitingWorkStore | undefined;

  /** @param pendingWork skips the query when it knows of no recording session */
  constructor(pool: DatabasePool, pendingWork?: WaitingWorkStore) {
    this.#pool = pool;
    this.#pendingWork = pendingWork;
  }

  /** The database's time, Unix milliseconds. */
  now(): Promise<number> {
    return this.#pool.oneFirst(sql.type(z.object({ now: z.number() }))`select now() as now`);
  }

  /**
   * Stops at most `limit` sessions whose device has given no sign of life, neither audio nor
   * heartbeat, for `silence` milliseconds of the database's time; without a device, those to which
   * no audio came for as long. A file that is not whole keeps its session until it expires, so that
   * a paused upload can go on. Each is stopped once, however many processes try. Returns the
   * commands to their actors.
   */
  async stop(silence: number, limit: number): Promise<OutboxRow[]> {
    if (!(await isWaiting(this.#pendingWork, "recording"))) return [];
    return this.#pool.transaction(async (tx) => {
      const locked = await tx.any(sql.type(idRow)`
        select s.id from sessions s left join devices d on d.id = s.device_id
        where s.status = 'recording' and ${isSilent(silence)}
        order by s.started_at limit ${limit}
        for update of s skip locked`);
      const rows: OutboxRow[] = [];
      for (const { id } of locked) {
        if (!(await isStillSilent(tx, id, silence))) continue;
        const row = await markStopped(tx, id, undefined, "device_silent");
        await writeOutbox(tx, row);
        rows.push(row);
      }
      return rows;
    });
  }
}

function isSilent(silence: number): ReturnType<typeof sql.fragment> {
  const instant = sql.fragment`(now() - ${silence}::float8 * interval '1 ms')`;
  return sql.fragment`s.started_at < ${instant}
    and (d.last_seen_at is null or d.last_seen_at < ${instant})
    and not exists (
      select 1 from chunks c where c.session_id = s.id and c.uploaded_at >= ${instant})
    and not exists (
      select 1 from audio_streams a where a.session_id = s.id and a.touched_at >= ${instant})
    and not exists (
      select 1 from file_uploads u where u.session_id = s.id and (u.state in ('received', 'storing')
        or u.state = 'receiving' and u.expires_at > now()))`;
}

/**
 * A separate statement after the lock, so that it sees everything committed before the lock was
 * granted.
 */
function isStillSilent(tx: CommonQueryMethods, id: string, silence: number): Promise<boolean> {
  return tx.exists(sql.type(z.object({}).strict())`
    select 1 from sessions s left join devices d on d.id = s.device_id
    where s.id = ${id} and s.status = 'recording' and ${isSilent(silence)}`);
}
