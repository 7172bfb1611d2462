import { type DatabasePool, sql } from "slonik";
import { z } from "zod";
import type { Backlog, BacklogCommand } from "../actor/backlog.ts";
import { guarded } from "./store-error.ts";

const commandRow = z.object({
  id: z.string(),
  sessionId: z.string(),
  command: z.object({ type: z.string() }).passthrough(),
});

/** Half of what a mailbox holds. */
const MOST_AT_ONCE = 500;

export class SessionBacklog implements Backlog {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  commands(
    partitions: readonly number[],
    olderThan: number,
    limit: number,
  ): Promise<BacklogCommand[]> {
    return guarded(async () => {
      const rows = await this.#pool.any(sql.type(commandRow)`
        select id, session_id as "sessionId", command from outbox
        where partition = any(${sql.array([...partitions], "int2")})
          and created_at < now() - ${olderThan} * interval '1 millisecond'
        order by created_at limit ${limit}`);
      return [...rows];
    });
  }

  commandsTo(sessionId: string): Promise<BacklogCommand[]> {
    return guarded(async () => {
      const rows = await this.#pool.any(sql.type(commandRow)`
        select id, session_id as "sessionId", command from outbox
        where session_id = ${sessionId} order by created_at limit ${MOST_AT_ONCE}`);
      return [...rows];
    });
  }

  /** Recording or processing, or a late chunk is not transcribed yet. */
  unfinished(partitions: readonly number[]): Promise<string[]> {
    return guarded(async () => {
      const ids = await this.#pool.anyFirst(sql.type(z.object({ id: z.string() }))`
        select id from sessions
        where partition = any(${sql.array([...partitions], "int2")})
          and (status in ('recording', 'processing')
               or (status in ('completed', 'failed') and exists (
                 select from chunks where session_id = sessions.id and status = 'processing')))
        order by id`);
      return [...ids];
    });
  }
}
