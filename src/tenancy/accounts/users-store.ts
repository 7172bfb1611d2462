import { type CommonQueryMethods, type DatabasePool, sql } from "slonik";
import { z } from "zod";
import { insertAuditEntry } from "../../access/audit-entries-store.ts";
import type { AuditEntry } from "../../access/audit-entry.ts";
import type { UserPrincipal } from "../../access/principal.ts";
import type { SuspendedCredentials } from "../../access/suspended-credentials.ts";
import { allOf, toPage } from "../../postgres/columns.ts";
import { optionalColumn } from "../../postgres/optional-column.ts";
import type { Page, PageRequest } from "../../rest/page.ts";
import { comparableAddress } from "./mail-addresses.ts";

export interface UserRecord {
  id: string;
  email: string;
  name: string;
  role: UserPrincipal["role"];
  disabledAt?: number | undefined;
  createdAt: number;
  updatedAt: number;
}

interface NewUser {
  id: string;
  email: string;
  name: string;
  role: UserPrincipal["role"];
  /** Null for an account that is signed in to in other ways. */
  passwordHash: string | null;
}

export interface UserFilter {
  workspaceId?: string;
  role?: UserPrincipal["role"];
  disabled?: boolean;
  /** Part of the name or e-mail address, without case. */
  search?: string;
}

export interface Account {
  id: string;
  email: string;
  name: string;
  role: UserPrincipal["role"];
  /** Absent when the account has no password. */
  passwordHash?: string | undefined;
  disabled: boolean;
}

const idRow = z.object({ id: z.string() });
export const roleColumn = z.enum(["admin", "participant", "moderator"]);

const statusRow = z.object({ id: z.string(), role: roleColumn, active: z.boolean() });

const userRow = z.object({
  id: z.string(),
  email: z.string(),
  name: z.string(),
  role: roleColumn,
  disabledAt: optionalColumn(z.number()),
  createdAt: z.number(),
  updatedAt: z.number(),
});

/** A user with the columns that signing in needs; `ACCOUNT` lists them. */
export const accountRow = z.object({
  id: z.string(),
  email: z.string(),
  name: z.string(),
  role: roleColumn,
  passwordHash: optionalColumn(z.string()),
  disabled: z.boolean(),
});

const suspendedRow = z.object({ keys: z.number(), devices: z.number(), webhooks: z.number() });

const COLUMNS = sql.fragment`id, email, name, role, disabled_at as "disabledAt",
  created_at as "createdAt", updated_at as "updatedAt"`;

export const ACCOUNT = sql.fragment`users.id, email, name, role, password_hash as "passwordHash",
  disabled_at is not null as disabled`;

/** Notes that the account's address is its user's: a mailed link came back, or a provider says so. */
export async function noteVerified(tx: CommonQueryMethods, userId: string): Promise<void> {
  await tx.query(sql.unsafe`
    update users set verified_email = email
    where id = ${userId} and verified_email is distinct from email`);
}

/**
 * User accounts in PostgreSQL. A given audit entry is written in the same transaction as the
 * change, and only if there was one.
 */
export class UserStore {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  /** False, and nothing is recorded, when the e-mail address is taken. */
  insert(user: NewUser, entry?: AuditEntry): Promise<boolean> {
    return this.#pool.transaction(async (transaction) => {
      const row = await transaction.maybeOne(sql.type(idRow)`
        insert into users (id, email, name, role, password_hash)
        values (${user.id}, ${comparableAddress(user.email)}, ${user.name}, ${user.role}, ${user.passwordHash})
        on conflict (email) do nothing
        returning id`);
      if (row !== null && entry !== undefined) await insertAuditEntry(transaction, entry);
      return row !== null;
    });
  }

  /** Notes that the account's address is its user's; see `noteVerified`. */
  verifyAddress(id: string): Promise<void> {
    return noteVerified(this.#pool, id);
  }

  async find(id: string): Promise<UserRecord | undefined> {
    const row = await this.#pool.maybeOne(
      sql.type(userRow)`select ${COLUMNS} from users where id = ${id}`,
    );
    return row ?? undefined;
  }

  async list(filter: UserFilter, page: PageRequest): Promise<Page<UserRecord>> {
    const conditions = [sql.fragment`true`];
    if (page.after !== undefined) conditions.push(sql.fragment`id < ${page.after}::uuid`);
    if (filter.role !== undefined) conditions.push(sql.fragment`role = ${filter.role}`);
    if (filter.disabled !== undefined) {
      conditions.push(sql.fragment`(disabled_at is not null) = ${filter.disabled}`);
    }
    if (filter.workspaceId !== undefined) {
      conditions.push(sql.fragment`id in (
        select user_id from workspace_members where workspace_id = ${filter.workspaceId})`);
    }
    if (filter.search !== undefined) {
      const part = filter.search.toLowerCase();
      conditions.push(sql.fragment`position(${part} in lower(name || ' ' || email)) > 0`);
    }
    const rows = await this.#pool.any(sql.type(userRow)`
      select ${COLUMNS} from users where ${allOf(conditions)}
      order by id desc limit ${page.limit + 1}`);
    return toPage(rows, page.limit, (user) => user.id);
  }

  /** Disables or enables an account and ends all its logins on a change. Returns what happened. */
  setDisabled(
    id: string,
    disabled: boolean,
    entry?: AuditEntry,
  ): Promise<"changed" | "unchanged" | "unknown"> {
    return this.#pool.transaction(async (transaction) => {
      const known = await transaction.maybeOne(
        sql.type(idRow)`select id from users where id = ${id} and erased_at is null for update`,
      );
      if (known === null) return "unknown";
      const changed = await transaction.maybeOne(sql.type(idRow)`
        update users set
          disabled_at = case when ${disabled} then now() end,
          tokens_valid_from = clock_timestamp(),
          updated_at = now()
        where id = ${id} and (disabled_at is not null) <> ${disabled}
        returning id`);
      if (changed === null) return "unchanged";
      if (entry !== undefined) await insertAuditEntry(transaction, entry);
      return "changed";
    });
  }

  async rename(id: string, name: string): Promise<void> {
    await this.#pool.query(sql.unsafe`
      update users set name = ${name}, updated_at = now()
      where id = ${id} and erased_at is null`);
  }

  /** Changes nothing, and returns `last_admin`, when no active administrator would be left. */
  setRole(
    id: string,
    role: UserRecord["role"],
    entry: AuditEntry,
  ): Promise<"changed" | "unchanged" | "unknown" | "last_admin"> {
    return this.#pool.transaction(async (transaction) => {
      // Locks all administrators, so that the last two cannot step down at once.
      const locked = await transaction.any(sql.type(statusRow)`
        select id, role, disabled_at is null as active from users
        where (role = 'admin' or id = ${id}) and erased_at is null
        order by id for update`);
      const user = locked.find((each) => each.id === id);
      if (user === undefined) return "unknown";
      if (user.role === role) return "unchanged";
      const others = locked.some((each) => each.id !== id && each.role === "admin" && each.active);
      if (user.role === "admin" && !others) return "last_admin";
      await transaction.query(
        sql.unsafe`update users set role = ${role}, updated_at = now() where id = ${id}`,
      );
      await insertAuditEntry(transaction, entry);
      return "changed";
    });
  }

  /**
   * True when the user belongs to a workspace that the giver does not own: as a moderator the user
   * would read all of it. To oneself nobody opens even a workspace that he owns.
   */
  readsMoreAsModerator(userId: string, giverId: string): Promise<boolean> {
    return this.#pool.exists(sql.type(z.object({}).strict())`
      select from workspace_members m
      where m.user_id = ${userId} and (${userId === giverId} or not exists (
        select from workspace_members o
        where o.workspace_id = m.workspace_id and o.user_id = ${giverId} and o.role = 'owner'))`);
  }

  /**
   * How many keys, devices and webhooks of the user are suspended now.
   *
   * @param workspaceId only those of this workspace
   */
  suspended(userId: string, workspaceId?: string): Promise<SuspendedCredentials> {
    return this.#pool.one(sql.type(suspendedRow)`
      select keys, devices, webhooks from suspended_credentials(${userId}, ${workspaceId ?? null})`);
  }

  /** By the form in which addresses are compared. */
  async findByEmail(email: string): Promise<(Account & UserRecord) | undefined> {
    const row = await this.#pool.maybeOne(sql.type(accountRow.merge(userRow))`
      select ${COLUMNS}, password_hash as "passwordHash", disabled_at is not null as disabled
      from users where email = ${comparableAddress(email)}`);
    return row ?? undefined;
  }

  /** Replaces a hash by one of the same password with the present costs; ends no login. */
  async rehashPassword(userId: string, before: string, after: string): Promise<void> {
    await this.#pool.query(sql.unsafe`
      update users set password_hash = ${after}
      where id = ${userId} and password_hash = ${before}`);
  }
}

/** The name that replaces the person's name. */
const ERASED_NAME = "Deleted account";

/** Takes the person out of an account that is erased, and every way to sign in to it. */
export async function erasePerson(tx: CommonQueryMethods, userId: string): Promise<void> {
  await tx.query(sql.unsafe`delete from logins where user_id = ${userId}`);
  await tx.query(sql.unsafe`delete from magic_links where user_id = ${userId}`);
  await tx.query(sql.unsafe`delete from sign_in_places where user_id = ${userId}`);
  await tx.query(sql.unsafe`delete from user_identities where user_id = ${userId}`);
  await tx.query(sql.unsafe`
    update users
    set email = ${`erased-${userId}@erased.invalid`}, name = ${ERASED_NAME}, password_hash = null,
        verified_email = null, setup_password_hash = null, former_setup_hashes = '{}',
        role = 'participant', disabled_at = coalesce(disabled_at, now()), erased_at = now(),
        tokens_valid_from = clock_timestamp(), updated_at = now()
    where id = ${userId}`);
}
