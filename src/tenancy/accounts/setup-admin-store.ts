import { type DatabasePool, sql } from "slonik";
import { z } from "zod";
import { insertAuditEntry } from "../../access/audit-entries-store.ts";
import { optionalColumn } from "../../postgres/optional-column.ts";
import { comparableAddress } from "./mail-addresses.ts";

/** How many former set-up passwords are remembered. */
const KEPT = 8;

/** The administrator's account that the set-up makes. */
interface SetupAdmin {
  id: string;
  passwordHash?: string | undefined;
  /** Hash of the password that the set-up gave last; undefined when it never gave one. */
  setupHash?: string | undefined;
  /** Hashes of the passwords that the set-up gave before. */
  formerHashes: readonly string[];
  disabled: boolean;
}

const adminRow = z.object({
  id: z.string(),
  passwordHash: optionalColumn(z.string()),
  setupHash: optionalColumn(z.string()),
  formerHashes: z.array(z.string()),
  disabled: z.boolean(),
});

/** Stores the account that the set-up makes and whose password it may set again. */
export class SetupAdminStore {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  async find(email: string): Promise<SetupAdmin | undefined> {
    const row = await this.#pool.maybeOne(sql.type(adminRow)`
      select id, password_hash as "passwordHash", setup_password_hash as "setupHash",
        former_setup_hashes as "formerHashes",
        disabled_at is not null as disabled
      from users where email = ${comparableAddress(email)}`);
    return row ?? undefined;
  }

  /** Whether any administrator exists. */
  async any(): Promise<boolean> {
    const found = await this.#pool.exists(
      sql.unsafe`select 1 from users where role = 'admin' and erased_at is null`,
    );
    return found;
  }

  create(admin: { id: string; email: string; passwordHash: string }): Promise<void> {
    const { id, email, passwordHash } = admin;
    return this.#pool.transaction(async (transaction) => {
      await transaction.query(sql.unsafe`
        insert into users (id, email, name, role, password_hash, setup_password_hash)
        values (${id}, ${comparableAddress(email)}, 'Admin', 'admin', ${passwordHash}, ${passwordHash})`);
      const detail = { role: "admin" };
      await insertAuditEntry(transaction, {
        kind: "user_created",
        actor: { kind: "system" },
        subjectId: id,
        detail,
      });
    });
  }

  /** Records this password as the one that the set-up gave. */
  async adopt(id: string, passwordHash: string): Promise<void> {
    await this.#pool.query(
      sql.unsafe`update users set setup_password_hash = ${passwordHash} where id = ${id}`,
    );
  }

  /** Sets the password and ends every login of the account. */
  setPassword(id: string, passwordHash: string): Promise<void> {
    return this.#pool.transaction(async (transaction) => {
      await transaction.query(sql.unsafe`
        update users set password_hash = ${passwordHash}, setup_password_hash = ${passwordHash},
          former_setup_hashes = (array_prepend(setup_password_hash, former_setup_hashes))[1:${KEPT}],
          tokens_valid_from = clock_timestamp(), updated_at = now()
        where id = ${id}`);
      await insertAuditEntry(transaction, {
        kind: "password_changed",
        actor: { kind: "system" },
        subjectId: id,
      });
    });
  }
}
