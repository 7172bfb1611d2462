import { type CommonQueryMethods, type DatabasePool, sql } from "slonik";
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

/** For whoever deletes a session. */
export async function eraseFreeNames(
  tx: CommonQueryMethods,
  { id }: { id: string },
): Promise<void> {
  await tx.query(sql.unsafe`delete from speaker_names where session_id = ${id}`);
}

/** Replaces the label's free name by the one that waits for it, or takes it away. */
export async function takeName(
  tx: CommonQueryMethods,
  sessionId: string,
  { label, nameId }: { label: string; nameId?: string | undefined },
): Promise<void> {
  await tx.query(sql.unsafe`
    delete from speaker_names where session_id = ${sessionId} and label = ${label}`);
  if (nameId === undefined) return;
  await tx.query(sql.unsafe`
    update speaker_names set label = ${label}, put_aside = false
    where id = ${nameId} and session_id = ${sessionId}`);
}

/**
 * Moves the merged label's free name to the remaining label, unless that has one. Then it is put
 * aside, where the way back finds it, or deleted when there is none.
 */
export async function mergeNames(
  tx: CommonQueryMethods,
  sessionId: string,
  { from, into }: { from: string; into: string },
  keepsWay: boolean,
): Promise<void> {
  await tx.query(sql.unsafe`
    update speaker_names set label = ${into}
    where session_id = ${sessionId} and label = ${from} and not exists (
      select from speaker_names where session_id = ${sessionId} and label = ${into})`);
  if (keepsWay) {
    await tx.query(sql.unsafe`
      update speaker_names set label = null, put_aside = true
      where session_id = ${sessionId} and label = ${from}`);
    return;
  }
  await tx.query(sql.unsafe`
    delete from speaker_names where session_id = ${sessionId} and label = ${from}`);
}
