import { type CommonQueryMethods, type DatabasePool, sql } from "slonik";
import { z } from "zod";
import type { UserPrincipal } from "../../access/principal.ts";
import { LookupBatcher } from "../../base/lookup-batcher.ts";
import { toInstant } from "../../postgres/columns.ts";
import { endedAgain } from "../../postgres/ended-again.ts";
import { roleColumn } from "./users-store.ts";

export interface LoginStatus {
  loginId: string;
  userId: string;
  email: string;
  name: string;
  role: UserPrincipal["role"];
  /** Unix milliseconds. */
  expiresAt: number;
  /** False after the password was changed from within this login. */
  refreshable: boolean;
}

interface NewLogin {
  id: string;
  userId: string;
  /**
   * The hash that the password was checked against; undefined when the user signed in without a
   * password.
   */
  passwordHash: string | undefined;
  expiresAt: number;
}

const FORGET_BATCH = 20;

const idRow = z.object({ id: z.string() });

const statusRow = z.object({
  loginId: z.string(),
  userId: z.string(),
  email: z.string(),
  name: z.string(),
  role: roleColumn,
  expiresAt: z.number(),
  refreshable: z.boolean(),
});

/** Logins in PostgreSQL: one row per sign-in, shared by its access and refresh tokens. */
export class LoginStore {
  readonly #pool: DatabasePool;
  readonly #statuses: LookupBatcher<string, LoginStatus>;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
    this.#statuses = new LookupBatcher((ids) => this.#read(ids));
  }

  /**
   * Records a login. False, and nothing is recorded, when the account was disabled or its password
   * changed meanwhile.
   */
  async open(login: NewLogin): Promise<boolean> {
    // `created_at` and `tokens_valid_from` both come from the database's clock.
    const row = await this.#pool.maybeOne(sql.type(idRow)`
      insert into logins (id, user_id, expires_at, created_at)
      select ${login.id}, id, ${toInstant(login.expiresAt)}, clock_timestamp()
      from users
      where id = ${login.userId} and disabled_at is null
        and (${login.passwordHash ?? null}::text is null
          or password_hash = ${login.passwordHash ?? null})
      for share
      returning id`);
    await this.#forgetEnded();
    return row !== null;
  }

  /**
   * Undefined when the login was revoked, or its user was disabled, removed, or given a new
   * password since.
   */
  status(loginId: string): Promise<LoginStatus | undefined> {
    return this.#statuses.get(loginId);
  }

  async #read(ids: readonly string[]): Promise<(LoginStatus | undefined)[]> {
    const rows = await this.#pool.any(sql.type(statusRow)`
      select logins.id as "loginId", user_id as "userId", email, name, role,
        expires_at as "expiresAt", refreshable
      from logins join users on users.id = logins.user_id
      where logins.id = any(${sql.array([...ids], "uuid")})
        and revoked_at is null and disabled_at is null
        and logins.created_at >= tokens_valid_from`);
    const found = new Map(rows.map((row) => [row.loginId, row]));
    return ids.map((id) => found.get(id));
  }

  /** Deletes a few of the logins that expired more than a day ago. */
  async #forgetEnded(): Promise<void> {
    await this.#pool.query(sql.unsafe`
      delete from logins where id in (
        select id from logins where expires_at < now() - interval '1 day'
        limit ${FORGET_BATCH} for update skip locked)`);
  }

  /** True for a login that began less than so many minutes ago; a refresh does not begin one. */
  isYoungerThan(loginId: string, minutes: number): Promise<boolean> {
    return this.#pool.exists(sql.type(idRow)`
      select id from logins
      where id = ${loginId} and created_at > clock_timestamp() - ${minutes} * interval '1 minute'`);
  }

  async revoke(loginId: string): Promise<void> {
    await this.#pool.query(sql.unsafe`
      update logins set revoked_at = now() where id = ${loginId} and revoked_at is null`);
  }
}

/**
 * Ends sign-ins again that the ledger says have ended; resolves to how many. The ledger has times in
 * whole milliseconds.
 */
export async function endSignInsAgain(db: CommonQueryMethods): Promise<number> {
  const { rowCount } = await db.query(sql.unsafe`
    update logins r set expires_at = e.at
    ${endedAgain("sign_in_ended", sql.fragment`least(r.revoked_at, r.expires_at)`)}`);
  return rowCount;
}
