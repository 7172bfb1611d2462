import { type DatabasePool, sql } from "slonik";
import { z } from "zod";
import { LookupBatcher } from "../../base/lookup-batcher.ts";
import { toInstant } from "../../postgres/columns.ts";
import type { GuestRecords, GuestStatus } from "../accounts/guest-records.ts";

type Admission = "admitted" | "closed" | "unknown_session";

const sessionRow = z.object({ status: z.string(), guest_access: z.string() });

const statusRow = z.object({
  guestId: z.string(),
  sessionId: z.string(),
  displayName: z.string(),
  expiresAt: z.number(),
});

/** Guests of sessions in PostgreSQL. */
export class GuestStore implements GuestRecords {
  readonly #pool: DatabasePool;
  readonly #statuses: LookupBatcher<string, GuestStatus>;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
    this.#statuses = new LookupBatcher((ids) => this.#read(ids));
  }

  /**
   * Decides and records under the lock of the session's row. A deleted session counts as unknown.
   */
  admit(guest: GuestStatus): Promise<Admission> {
    return this.#pool.transaction(async (transaction) => {
      const session = await transaction.maybeOne(sql.type(sessionRow)`
        select status, guest_access from sessions where id = ${guest.sessionId} for share`);
      if (session === null || session.status === "deleted") return "unknown_session";
      if (session.guest_access !== "open") return "closed";
      await transaction.query(sql.unsafe`
        insert into guests (id, session_id, display_name, expires_at)
        values (${guest.guestId}, ${guest.sessionId}, ${guest.displayName},
          ${toInstant(guest.expiresAt)})`);
      return "admitted";
    });
  }

  status(guestId: string): Promise<GuestStatus | undefined> {
    return this.#statuses.get(guestId);
  }

  async #read(ids: readonly string[]): Promise<(GuestStatus | undefined)[]> {
    const rows = await this.#pool.any(sql.type(statusRow)`
      select guests.id as "guestId", session_id as "sessionId", display_name as "displayName",
        expires_at as "expiresAt"
      from guests join sessions on sessions.id = guests.session_id
      where guests.id = any(${sql.array([...ids], "uuid")}) and revoked_at is null
        and guest_access = 'open' and status <> 'deleted'`);
    const found = new Map(rows.map((row) => [row.guestId, row]));
    return ids.map((id) => found.get(id));
  }

  async revoke(guestId: string): Promise<void> {
    await this.#pool.query(sql.unsafe`
      update guests set revoked_at = now() where id = ${guestId} and revoked_at is null`);
  }
}
