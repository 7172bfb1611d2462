import { createHmac } from "node:crypto";
import {
  type CommonQueryMethods,
  type DatabasePool,
  type DatabaseTransactionConnection,
  sql,
} from "slonik";
import { z } from "zod";
import { insertAuditEntry } from "../../access/audit-entries-store.ts";
import { type FailedSignIn, type FailedSignInTrail, SYSTEM } from "../../access/audit-entry.ts";
import { toTimestamp } from "../../base/clock.ts";

/** How many addresses are kept of one account and hour. */
const KEPT_ADDRESSES = 100;
/** How many of them an entry names, those with the most failures. */
const NAMED_ADDRESSES = 8;
/** How many counters become entries in one transaction, which holds up the log. */
const CLOSED_AT_ONCE = 200;
/** Stands for an account that is not known. */
const NOBODY = "00000000-0000-0000-0000-000000000000";
/** Half of a SHA-256 in hex: enough to tell addresses apart. */
const DIGEST_LENGTH = 32;

const countRow = z.object({ failures: z.number() });
const closedRow = z.object({
  hour: z.number(),
  accountId: z.string(),
  reason: z.string(),
  provider: z.string(),
  failures: z.number(),
  firstAt: z.number(),
  lastAt: z.number(),
});
const addressesRow = z.object({ addresses: z.number(), digests: z.string() });

const HOUR = sql.fragment`date_trunc('hour', now())`;

/**
 * Counts sign-ins that failed. What strangers write is bounded by accounts and hours, not by how
 * often they try.
 */
export class FailedSignInStore implements FailedSignInTrail {
  readonly #pool: DatabasePool;
  readonly #key: Uint8Array;

  /** @param key the HMAC key of the addresses' digests */
  constructor(pool: DatabasePool, key: Uint8Array) {
    this.#pool = pool;
    this.#key = key;
  }

  recordFailedSignIn({ accountId, reason, provider = "", address }: FailedSignIn): Promise<void> {
    const account = accountId ?? NOBODY;
    const digest = this.#digest(address);
    return this.#pool.transaction(async (tx) => {
      await tx.query(sql.unsafe`
        insert into failed_sign_in_addresses (account_id, hour, digest, address)
        select ${account}::uuid, ${HOUR}, ${digest}, ${address}
        where (
          select count(*) from failed_sign_in_addresses
          where account_id = ${account} and hour = ${HOUR} and digest <> ${digest}
        ) < ${KEPT_ADDRESSES}
        on conflict (account_id, hour, digest) do update
          set failures = failed_sign_in_addresses.failures + 1, seen_at = now()`);
      const { failures } = await tx.one(sql.type(countRow)`
        insert into failed_sign_ins (hour, account_id, reason, provider)
        values (${HOUR}, ${account}, ${reason}, ${provider})
        on conflict (hour, account_id, reason, provider) do update
          set failures = failed_sign_ins.failures + 1, last_at = now()
        returning failures`);
      if (failures > 1) return;
      await insertAuditEntry(tx, {
        kind: "login_failed",
        actor: SYSTEM,
        subjectId: accountId,
        detail: { reason, ...(provider === "" ? {} : { provider }), address: digest },
      });
    });
  }

  /** Puts the counts of hours that are over into the log; returns how many counters that were. */
  closeHours(): Promise<number> {
    return this.#pool.transaction(async (tx) => {
      // A minute more, for transactions that began before the hour was over.
      const closed = await tx.any(sql.type(closedRow)`
        delete from failed_sign_ins where (hour, account_id, reason, provider) in (
          select hour, account_id, reason, provider from failed_sign_ins
          where hour < now() - interval '61 minutes'
          order by hour limit ${CLOSED_AT_ONCE} for update skip locked)
        returning hour, account_id as "accountId", reason, provider, failures,
          first_at as "firstAt", last_at as "lastAt"`);
      const told = closed.filter(({ failures }) => failures > 1);
      const origins = [];
      for (const each of told) origins.push(await readOrigins(tx, each.accountId, each.hour));
      for (const [n, each] of told.entries()) {
        const { reason, provider, failures } = each;
        await insertAuditEntry(tx, {
          kind: "login_failed",
          actor: SYSTEM,
          subjectId: each.accountId === NOBODY ? undefined : each.accountId,
          detail: {
            ...{ reason, failures, first_at: toTimestamp(each.firstAt) },
            ...{ last_at: toTimestamp(each.lastAt), ...origins[n] },
            ...(provider === "" ? {} : { provider }),
          },
        });
      }
      return closed.length;
    });
  }

  /** Forgets addresses that were last seen longer ago than this; returns how many. */
  async forgetAddresses(days: number): Promise<number> {
    const { rowCount } = await this.#pool.query(sql.unsafe`
      delete from failed_sign_in_addresses where seen_at < now() - ${days} * interval '1 day'`);
    return rowCount;
  }

  #digest(address: string): string {
    const digest = createHmac("sha256", this.#key).update(address).digest("hex");
    return digest.slice(0, DIGEST_LENGTH);
  }
}

/** How many addresses one account's failures of an hour came from, and digests of some of them. */
function readOrigins(tx: DatabaseTransactionConnection, accountId: string, hour: number) {
  return tx.one(sql.type(addressesRow)`
    with origins as (
      select digest, failures from failed_sign_in_addresses
      where account_id = ${accountId} and hour = to_timestamp(${hour}::double precision / 1000)
    )
    select (select count(*)::int from origins) as addresses,
      coalesce((select string_agg(digest, ' ' order by failures desc, digest)
        from (select * from origins order by failures desc, digest limit ${NAMED_ADDRESSES}) o
      ), '') as digests`);
}

/** Deletes the addresses from which somebody failed to sign in to an account that is erased. */
export async function forgetFailedSignInsOf(tx: CommonQueryMethods, userId: string): Promise<void> {
  await tx.query(sql.unsafe`delete from failed_sign_in_addresses where account_id = ${userId}`);
}
