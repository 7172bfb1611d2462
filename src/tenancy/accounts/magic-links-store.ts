import { type DatabasePool, sql } from "slonik";
import { z } from "zod";
import { toInstant } from "../../postgres/columns.ts";
import { ACCOUNT, type Account, accountRow, noteVerified } from "./users-store.ts";

const FORGET_BATCH = 20;

const takenRow = accountRow.extend({ usable: z.boolean() });

/** Sign-in links in PostgreSQL, by the hash of their token. */
export class MagicLinkStore {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  async put(link: { tokenHash: Uint8Array; userId: string; expiresAt: number }): Promise<void> {
    // Like `tokens_valid_from`, `created_at` comes from the database's clock.
    await this.#pool.query(sql.unsafe`
      insert into magic_links (token_hash, user_id, created_at, expires_at)
      values (${sql.binary(Buffer.from(link.tokenHash))}, ${link.userId}, clock_timestamp(),
        ${toInstant(link.expiresAt)})`);
    await this.#pool.query(sql.unsafe`
      delete from magic_links where token_hash in (
        select token_hash from magic_links where expires_at < now() - interval '1 hour'
        limit ${FORGET_BATCH} for update skip locked)`);
  }

  /**
   * Returns the account that the link is for, at most once, and invalidates the account's other
   * links. Undefined when the link is unknown, used, or expired at `now`, or when the account was
   * disabled or its logins were ended since.
   */
  take(tokenHash: Uint8Array, now: number): Promise<Account | undefined> {
    return this.#pool.transaction(async (transaction) => {
      const row = await transaction.maybeOne(sql.type(takenRow)`
        with link as (
          delete from magic_links where token_hash = ${sql.binary(Buffer.from(tokenHash))}
          returning *)
        select ${ACCOUNT}, disabled_at is null and link.expires_at > ${toInstant(now)}
            and link.created_at >= tokens_valid_from as usable
        from link join users on users.id = link.user_id`);
      if (row === null || !row.usable) return undefined;
      await transaction.query(sql.unsafe`delete from magic_links where user_id = ${row.id}`);
      await noteVerified(transaction, row.id);
      const { usable: _, ...account } = row;
      return account;
    });
  }
}
