import { type DatabasePool, type DatabaseTransactionConnection, sql } from "slonik";
import { z } from "zod";
import { insertAuditEntry } from "../../access/audit-entries-store.ts";
import { toInstant } from "../../postgres/columns.ts";
import { optionalColumn } from "../../postgres/optional-column.ts";
import { ACCOUNT, type Account, accountRow, noteVerified } from "./users-store.ts";

interface OAuthRequest {
  stateHash: Uint8Array;
  /** The hash of the secret that only the browser knows. */
  browserHash: Uint8Array;
  provider: string;
  /** The page to which the browser returns after the sign-in. */
  redirect: string | undefined;
  expiresAt: number;
}

const FORGET_BATCH = 20;

const requestRow = z.object({ redirect: optionalColumn(z.string()), live: z.boolean() });

const idRow = z.object({ id: z.string() });

function bytes(value: Uint8Array): ReturnType<typeof sql.binary> {
  return sql.binary(Buffer.from(value));
}

/** Pending sign-ins at providers, and the links from providers' users to accounts. */
export class OAuthStore {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  async put(request: OAuthRequest): Promise<void> {
    await this.#pool.query(sql.unsafe`
      insert into oauth_requests (state_hash, browser_hash, provider, redirect, expires_at)
      values (${bytes(request.stateHash)}, ${bytes(request.browserHash)}, ${request.provider},
        ${request.redirect ?? null}, ${toInstant(request.expiresAt)})`);
    await this.#pool.query(sql.unsafe`
      delete from oauth_requests where state_hash in (
        select state_hash from oauth_requests where expires_at < now() - interval '1 hour'
        limit ${FORGET_BATCH} for update skip locked)`);
  }

  /**
   * Returns the request, at most once; undefined when unknown, used, of another provider or
   * browser, or expired at `now`.
   */
  async take(
    request: Pick<OAuthRequest, "stateHash" | "browserHash" | "provider">,
    now: number,
  ): Promise<{ redirect: string | undefined } | undefined> {
    const row = await this.#pool.maybeOne(sql.type(requestRow)`
      delete from oauth_requests
      where state_hash = ${bytes(request.stateHash)}
        and browser_hash = ${bytes(request.browserHash)} and provider = ${request.provider}
      returning redirect, expires_at > ${toInstant(now)} as live`);
    return row?.live ? { redirect: row.redirect } : undefined;
  }

  /** The account that is linked to this provider's user. */
  async findLinked(provider: string, subject: string): Promise<Account | undefined> {
    const row = await this.#pool.maybeOne(sql.type(accountRow)`
      select ${ACCOUNT} from user_identities join users on users.id = user_id
      where provider = ${provider} and subject = ${subject}`);
    return row ?? undefined;
  }

  /** Links a provider's user to an account, with an audit entry. */
  link(provider: string, subject: string, userId: string): Promise<void> {
    return this.#pool.transaction((transaction) => link(transaction, provider, subject, userId));
  }

  /**
   * Creates an account without a password and links it, with audit entries. Undefined when the
   * address was taken meanwhile.
   */
  createLinked(
    provider: string,
    subject: string,
    user: { id: string; email: string; name: string },
  ): Promise<Account | undefined> {
    return this.#pool.transaction(async (transaction) => {
      const row = await transaction.maybeOne(sql.type(accountRow)`
        insert into users (id, email, name, role)
        values (${user.id}, ${user.email}, ${user.name}, 'participant')
        on conflict (email) do nothing
        returning ${ACCOUNT}`);
      if (row === null) return undefined;
      const detail = { role: "participant", provider };
      await insertAuditEntry(transaction, {
        kind: "user_created",
        actor: { kind: "system" },
        subjectId: row.id,
        detail,
      });
      await link(transaction, provider, subject, row.id);
      return row;
    });
  }
}

async function link(
  transaction: DatabaseTransactionConnection,
  provider: string,
  subject: string,
  userId: string,
): Promise<void> {
  const linked = await transaction.maybeOne(sql.type(idRow)`
    insert into user_identities (provider, subject, user_id)
    values (${provider}, ${subject}, ${userId})
    on conflict do nothing
    returning user_id as id`);
  // The provider vouches for the address by which the account was found or made.
  await noteVerified(transaction, userId);
  // Another tab of the same browser may have linked the account already.
  if (linked === null) return;
  const actor = { kind: "user", id: userId } as const;
  await insertAuditEntry(transaction, {
    kind: "login_linked",
    actor,
    subjectId: userId,
    detail: { provider },
  });
}
