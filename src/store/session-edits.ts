import { type DatabasePool, sql } from "slonik";
import type { SessionChange, SessionEdits } from "../api/sessions-edit.ts";
import { guarded } from "./store-error.ts";

export class PostgresSessionEdits implements SessionEdits {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  change(sessionId: string, change: SessionChange): Promise<void> {
    const { title, visibility, guestAccess, workshopId } = change;
    const workshop =
      workshopId === undefined ? sql.fragment`workshop_id` : sql.fragment`${workshopId}::uuid`;
    return guarded(() =>
      this.#pool.transaction(async (tx) => {
        await tx.query(sql.unsafe`
          update sessions
          set title = coalesce(${title ?? null}, title),
              visibility = coalesce(${visibility ?? null}, visibility),
              guest_access = coalesce(${guestAccess ?? null}, guest_access),
              workshop_id = ${workshop},
              updated_at = now()
          where id = ${sessionId} and status <> 'deleted'`);
        if (guestAccess !== "closed") return;
        await tx.query(sql.unsafe`
          update guests set revoked_at = now()
          where session_id = ${sessionId} and revoked_at is null`);
      }),
    );
  }
}
