import { createHmac } from "node:crypto";
import { type DatabasePool, sql } from "slonik";
import { z } from "zod";

/** How many places of an account are remembered, the newest. */
const KEPT = 20;
/** Stands for accounts that are not there, so that the same statement runs for them. */
const NOBODY = "00000000-0000-0000-0000-000000000000";

const nothing = z.object({}).strict();

/**
 * From where accounts were signed in to in the last 90 days: network addresses, kept as keyed
 * digests.
 */
export class SignInAddressStore {
  readonly #pool: DatabasePool;
  readonly #key: Uint8Array;

  /** @param key the HMAC key of the digests */
  constructor(pool: DatabasePool, key: Uint8Array) {
    this.#pool = pool;
    this.#key = key;
  }

  /** Does the same work for an account that is not there. */
  isKnown(userId: string | undefined, address: string): Promise<boolean> {
    return this.#pool.exists(sql.type(nothing)`
      select from sign_in_places
      where user_id = ${userId ?? NOBODY} and place = ${this.#digest(address)}
        and seen_at > now() - interval '90 days'`);
  }

  async remember(userId: string, address: string): Promise<void> {
    await this.#pool.query(sql.unsafe`
      insert into sign_in_places (user_id, place) values (${userId}, ${this.#digest(address)})
      on conflict (user_id, place) do update set seen_at = now()`);
    await this.#pool.query(sql.unsafe`
      delete from sign_in_places where (user_id, place) in (
        select user_id, place from sign_in_places where user_id = ${userId}
        order by seen_at desc offset ${KEPT})`);
  }

  #digest(address: string): ReturnType<typeof sql.binary> {
    return sql.binary(createHmac("sha256", this.#key).update(address).digest());
  }
}
