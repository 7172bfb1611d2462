import { type DatabasePool, sql } from "slonik";
import { z } from "zod";
import type { SessionChange, SessionEdits } from "./edit.ts";

export class PostgresSessionEdits implements SessionEdits {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  change(
    sessionId: string,
    { title, visibility, guestAccess, workshopId }: SessionChange,
    expected?: Required<SessionChange>,
  ): Promise<boolean> {
    const workshop =
      workshopId === undefined ? sql.fragment`workshop_id` : sql.fragment`${workshopId}::uuid`;
    return this.#pool.transaction(async (tx) => {
      const changed = await tx.maybeOne(sql.type(z.object({ id: z.string() }))`
        update sessions
        set title = coalesce(${title ?? null}, title),
            visibility = coalesce(${visibility ?? null}, visibility),
            guest_access = coalesce(${guestAccess ?? null}, guest_access),
            workshop_id = ${workshop},
            updated_at = now()
        where id = ${sessionId} and status <> 'deleted' and ${isAs(expected)}
        returning id`);
      if (changed === null) return false;
      if (guestAccess !== "closed") return true;
      await tx.query(sql.unsafe`
        update guests set revoked_at = now()
        where session_id = ${sessionId} and revoked_at is null`);
      return true;
    });
  }
}

function isAs(expected: Required<SessionChange> | undefined) {
  if (expected === undefined) return sql.fragment`true`;
  const { title = "", visibility = "", guestAccess = "", workshopId = null } = expected;
  return sql.fragment`(title, visibility, guest_access) = (${title}, ${visibility}, ${guestAccess})
    and workshop_id is not distinct from ${workshopId}::uuid`;
}
