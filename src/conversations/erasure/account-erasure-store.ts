import { type CommonQueryMethods, type DatabasePool, sql } from "slonik";
import { z } from "zod";
import { insertAuditEntry } from "../../access/audit-entries-store.ts";
import type { AuditActor } from "../../access/audit-entry.ts";
import { noteErasure } from "./ledger/ledger-store.ts";

/** What a feature deletes or ends in the transaction that erases an account. */
export type AccountEnding = (tx: CommonQueryMethods, userId: string) => Promise<void>;

const userRow = z.object({ role: z.string(), otherAdmins: z.number(), devices: z.number() });

const orphanRow = z.object({ id: z.string(), ownerId: z.string() });

/** A session whose owner's account was erased. */
export type OrphanedSession = z.output<typeof orphanRow>;

/** The database's part of an account's erasure. */
export class AccountErasureStore {
  readonly #pool: DatabasePool;
  readonly #endings: readonly AccountEnding[];

  /** `endings` are carried out one after the other: the account itself is the last. */
  constructor(pool: DatabasePool, endings: readonly AccountEnding[]) {
    this.#pool = pool;
    this.#endings = endings;
  }

  /** Removes the person's data from the account, in one transaction with its audit entry. */
  erase(
    userId: string,
    actor: AuditActor = { kind: "user", id: userId },
  ): Promise<{ devices: number } | "last_admin" | undefined> {
    return this.#pool.transaction(async (tx) => {
      // Locks all administrators, so that the last two cannot leave at once.
      await tx.query(sql.unsafe`
        select id from users where role = 'admin' or id = ${userId} order by id for update`);
      const user = await tx.maybeOne(sql.type(userRow)`
        select role, (
          select count(*)::int from users o
          where o.role = 'admin' and o.disabled_at is null and o.id <> u.id
        ) as "otherAdmins", (
          select count(*)::int from devices d where d.owner_id = u.id and d.status <> 'revoked'
        ) as devices
        from users u where id = ${userId} and erased_at is null`);
      if (user === null) return undefined;
      if (user.role === "admin" && user.otherAdmins === 0) return "last_admin";
      for (const end of this.#endings) await end(tx, userId);
      await noteErasure(tx, { id: userId, kind: "account_erased" });
      const { devices } = user;
      await insertAuditEntry(tx, {
        kind: "account_erased",
        actor,
        subjectId: userId,
        detail: { devices },
      });
      return { devices };
    });
  }

  /** Sessions of erased accounts, or of one of them, that are not deleted yet, but `except`. */
  async orphanedSessions(
    limit: number,
    { userId, except = [] }: { userId?: string | undefined; except?: readonly string[] } = {},
  ): Promise<readonly OrphanedSession[]> {
    const owner = userId === undefined ? sql.fragment`true` : sql.fragment`u.id = ${userId}`;
    return this.#pool.any(sql.type(orphanRow)`
      select s.id, s.owner_id as "ownerId"
      from users u join sessions s on s.owner_id = u.id
      where u.erased_at is not null and s.status <> 'deleted' and ${owner}
        and s.id <> all(${sql.array(except, "uuid")})
      order by s.id limit ${limit}`);
  }

  countOrphaned(userId: string): Promise<number> {
    return this.#pool.oneFirst(sql.type(z.object({ count: z.number() }))`
      select count(*)::int as count from sessions
      where owner_id = ${userId} and status <> 'deleted'`);
  }
}
