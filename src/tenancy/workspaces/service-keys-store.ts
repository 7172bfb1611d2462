import {
  type CommonQueryMethods,
  type DatabasePool,
  type FragmentSqlToken as Fragment,
  sql,
} from "slonik";
import { z } from "zod";
import { insertAuditEntry } from "../../access/audit-entries-store.ts";
import type { AuditEntry } from "../../access/audit-entry.ts";
import { SCOPES } from "../../access/principal.ts";
import { type Ceilings, NO_CEILINGS } from "../../postgres/ceilings.ts";
import { allOf, toInstant, toPage } from "../../postgres/columns.ts";
import { endedAgain } from "../../postgres/ended-again.ts";
import { optionalColumn } from "../../postgres/optional-column.ts";
import type { Page, PageRequest } from "../../rest/page.ts";
import {
  KEY_STATUSES,
  type NewServiceKey,
  type NewServiceKeySecret,
  type ServiceKeyFilter,
  type ServiceKeyRecord,
  type ServiceKeyRecords,
  type ServiceKeyStatus,
} from "../accounts/service-key-records.ts";

const scope = z.enum(SCOPES);

const statusRow = z.object({
  keyId: z.string(),
  secretId: z.string(),
  workspaceId: z.string(),
  makerId: optionalColumn(z.string()),
  suspended: z.boolean(),
  scopes: z.array(scope),
  expiresAt: z.number(),
});

const keyRow = z.object({
  id: z.string(),
  workspaceId: z.string(),
  name: z.string(),
  scopes: z.array(scope),
  prefix: z.string(),
  createdBy: optionalColumn(z.string()),
  status: z.enum(KEY_STATUSES),
  createdAt: z.number(),
  secretCreatedAt: z.number(),
  expiresAt: z.number(),
  lastUsedAt: optionalColumn(z.number()),
});

const idRow = z.object({ id: z.string() });

/** SQL condition: the issuer of the secret `s` of the key `k` has the right to it. */
const ISSUER_IS_ACTIVE = sql.fragment`exists (
  select from issuer_rights(k.workspace_id, s.made_by, s.made_as))`;

const KEY_STATUS = sql.fragment`
  case when s.expires_at <= now() then 'expired'
    when ${ISSUER_IS_ACTIVE} then 'active' else 'suspended' end`;

const SECRET_STATUS = sql.fragment`
  select k.id as "keyId", s.id as "secretId", k.workspace_id as "workspaceId", k.scopes,
    s.made_by as "makerId", not ${ISSUER_IS_ACTIVE} as suspended, s.expires_at as "expiresAt"
  from service_key_secrets s
  join service_keys k on k.id = s.key_id
  join workspaces w on w.id = k.workspace_id
  where k.revoked_at is null and w.deleted_at is null`;

const KEYS = sql.fragment`
  select k.id, k.workspace_id as "workspaceId", k.name, k.scopes, s.prefix,
    s.made_by as "createdBy", ${KEY_STATUS} as status, k.created_at as "createdAt",
    s.created_at as "secretCreatedAt", s.expires_at as "expiresAt",
    k.last_used_at as "lastUsedAt"
  from service_keys k
  cross join lateral (
    select * from service_key_secrets where key_id = k.id order by number desc limit 1) s`;

type Connection = Pick<DatabasePool, "query" | "maybeOne">;

/** Service keys in PostgreSQL. */
export class ServiceKeyStore implements ServiceKeyRecords {
  readonly #pool: DatabasePool;
  readonly #ceilings: Ceilings;

  constructor(pool: DatabasePool, ceilings = NO_CEILINGS) {
    this.#pool = pool;
    this.#ceilings = ceilings;
  }

  async statusByHash(secretHash: Uint8Array): Promise<ServiceKeyStatus | undefined> {
    const hash = sql.binary(Buffer.from(secretHash));
    const row = await this.#pool.maybeOne(sql.type(statusRow)`
      with status as (${SECRET_STATUS} and s.secret_hash = ${hash}),
      used as (
        update service_keys set last_used_at = now()
        where id = (select "keyId" from status where not suspended)
          and (last_used_at is null or last_used_at < now() - interval '1 minute'))
      select * from status`);
    return row ?? undefined;
  }

  async statusBySecret(secretId: string): Promise<ServiceKeyStatus | undefined> {
    const row = await this.#pool.maybeOne(
      sql.type(statusRow)`${SECRET_STATUS} and s.id = ${secretId}`,
    );
    return row ?? undefined;
  }

  insert(key: NewServiceKey, entry: AuditEntry): Promise<ServiceKeyRecord> {
    return this.#pool.transaction(async (transaction) => {
      await this.#ceilings.assertRoom(transaction, "keys_per_workspace", key.workspaceId);
      await transaction.query(sql.unsafe`
        insert into service_keys (id, workspace_id, name, scopes, created_at)
        values (${key.id}, ${key.workspaceId}, ${key.name},
          ${sql.array([...key.scopes], "text")}, ${toInstant(key.secret.createdAt)})`);
      await insertSecret(transaction, key.id, key.secret);
      await insertAuditEntry(transaction, entry);
      return transaction.one(sql.type(keyRow)`${KEYS} where k.id = ${key.id}`);
    });
  }

  async find(keyId: string): Promise<ServiceKeyRecord | undefined> {
    const row = await this.#pool.maybeOne(
      sql.type(keyRow)`${KEYS} where k.id = ${keyId} and k.revoked_at is null`,
    );
    return row ?? undefined;
  }

  async list(filter: ServiceKeyFilter, page: PageRequest): Promise<Page<ServiceKeyRecord>> {
    const rows = await this.#pool.any(sql.type(keyRow)`
      ${KEYS} where ${allOf(listConditions(filter, page.after))}
      order by k.id desc limit ${page.limit + 1}`);
    return toPage(rows, page.limit, (key) => key.id);
  }

  addSecret(
    keyId: string,
    secret: NewServiceKeySecret,
    othersExpireAt: number,
    entry: AuditEntry,
  ): Promise<ServiceKeyRecord | undefined> {
    return this.#pool.transaction(async (transaction) => {
      const key = await transaction.maybeOne(sql.type(idRow)`
        select id from service_keys where id = ${keyId} and revoked_at is null for update`);
      if (key === null) return undefined;
      await transaction.query(sql.unsafe`
        delete from service_key_secrets where key_id = ${keyId} and id <> (
          select id from service_key_secrets where key_id = ${keyId} order by number desc limit 1)`);
      await transaction.query(sql.unsafe`
        update service_key_secrets
        set expires_at = least(expires_at, ${toInstant(othersExpireAt)})
        where key_id = ${keyId}`);
      await insertSecret(transaction, keyId, secret);
      await insertAuditEntry(transaction, entry);
      return transaction.one(sql.type(keyRow)`${KEYS} where k.id = ${keyId}`);
    });
  }

  adopt(
    keyId: string,
    by: { userId: string; as: "owner" | "admin" },
    entry: AuditEntry,
  ): Promise<ServiceKeyRecord | undefined> {
    return this.#pool.transaction(async (transaction) => {
      const key = await transaction.maybeOne(sql.type(idRow)`
        select id from service_keys where id = ${keyId} and revoked_at is null for update`);
      if (key === null) return undefined;
      await transaction.query(sql.unsafe`
        update service_key_secrets set made_by = ${by.userId}, made_as = ${by.as}
        where key_id = ${keyId}`);
      const adopted = await transaction.one(sql.type(keyRow)`${KEYS} where k.id = ${keyId}`);
      await insertAuditEntry(transaction, entry);
      return adopted;
    });
  }

  revoke(keyId: string, entry: AuditEntry): Promise<boolean> {
    return this.#pool.transaction(async (transaction) => {
      const revoked = await transaction.maybeOne(sql.type(idRow)`
        update service_keys set revoked_at = now()
        where id = ${keyId} and revoked_at is null
        returning id`);
      if (revoked === null) return false;
      await insertAuditEntry(transaction, entry);
      return true;
    });
  }
}

function listConditions(filter: ServiceKeyFilter, after: string | undefined): Fragment[] {
  const conditions = [
    sql.fragment`k.revoked_at is null and k.workspace_id in (
      select id from workspaces where deleted_at is null)`,
  ];
  if (after !== undefined) conditions.push(sql.fragment`k.id < ${after}::uuid`);
  if (filter.workspaceId !== undefined) {
    conditions.push(sql.fragment`k.workspace_id = ${filter.workspaceId}`);
  }
  if (filter.ownerId !== undefined) {
    conditions.push(sql.fragment`k.workspace_id in (
      select workspace_id from workspace_members
      where user_id = ${filter.ownerId} and role = 'owner')`);
  }
  if (filter.createdBy !== undefined) {
    conditions.push(sql.fragment`s.made_by = ${filter.createdBy}`);
  }
  if (filter.status !== undefined) {
    conditions.push(sql.fragment`${KEY_STATUS} = ${filter.status}`);
  }
  return conditions;
}

async function insertSecret(
  connection: Connection,
  keyId: string,
  secret: NewServiceKeySecret,
): Promise<void> {
  await connection.query(sql.unsafe`
    insert into service_key_secrets
      (id, key_id, secret_hash, prefix, created_at, expires_at, made_by)
    values (${secret.id}, ${keyId}, ${sql.binary(Buffer.from(secret.hash))}, ${secret.prefix},
      ${toInstant(secret.createdAt)}, ${toInstant(secret.expiresAt)}, ${secret.madeBy})`);
}

/**
 * Ends keys and secrets again that the ledger says have ended; resolves to how many. The ledger has
 * times in whole milliseconds.
 */
export async function endServiceKeysAgain(db: CommonQueryMethods): Promise<number> {
  const keys = await db.query(sql.unsafe`
    update service_keys r set revoked_at = e.at
    ${endedAgain("service_key_ended", sql.fragment`coalesce(r.revoked_at, 'infinity')`)}`);
  const secrets = await db.query(sql.unsafe`
    update service_key_secrets r set expires_at = e.at
    ${endedAgain("service_secret_ended", sql.fragment`r.expires_at`)}`);
  return keys.rowCount + secrets.rowCount;
}
