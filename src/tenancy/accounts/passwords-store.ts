import { type DatabasePool, sql } from "slonik";
import { z } from "zod";
import { insertAuditEntry } from "../../access/audit-entries-store.ts";
import type { AuditEntry } from "../../access/audit-entry.ts";
import { ACCOUNT, type Account, accountRow } from "./users-store.ts";

const idRow = z.object({ id: z.string() });

/** Password hashes in PostgreSQL. */
export class PasswordStore {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  async account(userId: string): Promise<Account | undefined> {
    const row = await this.#pool.maybeOne(sql.type(accountRow)`
      select ${ACCOUNT} from users where id = ${userId}`);
    return row ?? undefined;
  }

  /**
   * Replaces one hash by another and ends every other login, every refresh token and every sign-in
   * link of the account. False, and nothing is changed, when `before` is no longer the account's
   * hash.
   */
  change(
    change: { userId: string; before: string; after: string; keptLoginId: string },
    entry: AuditEntry,
  ): Promise<boolean> {
    const { userId, before, after, keptLoginId } = change;
    return this.#pool.transaction(async (transaction) => {
      // Logins are opened under a share lock of this row, so none is opened in between.
      const changed = await transaction.maybeOne(sql.type(idRow)`
        update users set password_hash = ${after}, updated_at = now()
        where id = ${userId} and password_hash = ${before}
        returning id`);
      if (changed === null) return false;
      await transaction.query(sql.unsafe`
        update logins set revoked_at = now()
        where user_id = ${userId} and id <> ${keptLoginId} and revoked_at is null`);
      await transaction.query(sql.unsafe`
        update logins set refreshable = false where id = ${keptLoginId}`);
      await transaction.query(sql.unsafe`delete from magic_links where user_id = ${userId}`);
      await insertAuditEntry(transaction, entry);
      return true;
    });
  }
}
