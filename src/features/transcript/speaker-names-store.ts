import { type DatabasePool, sql } from "slonik";
import { z } from "zod";

const heldRow = z.object({ id: z.string() });

/** Free names of labels until the session applies them, in the erasable part of the database. */
export class SpeakerNameStore {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  /**
   * Stores a name until the session takes it for one of its labels, and forgets those of the session
   * that it refused. False when the session was deleted. Throws `unavailable` when storage is away.
   */
  put(name: {
    id: string;
    sessionId: string;
    displayName: string;
    byUserId: string;
  }): Promise<boolean> {
    const { id, sessionId, displayName, byUserId } = name;
    return this.#pool.transaction(async (tx) => {
      // A deletion waits for this lock, and then deletes the name too.
      const session = await tx.maybeOne(sql.type(heldRow)`
        select id from sessions where id = ${sessionId} and status <> 'deleted' for share`);
      if (session === null) return false;
      await tx.query(sql.unsafe`
        delete from speaker_names
        where session_id = ${sessionId} and label is null and not put_aside
          and created_at < now() - interval '1 day'`);
      await tx.query(sql.unsafe`
        insert into speaker_names (id, session_id, display_name, by_user_id)
        values (${id}, ${sessionId}, ${displayName}, ${byUserId})`);
      return true;
    });
  }
}
