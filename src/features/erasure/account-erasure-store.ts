import { type DatabasePool, type DatabaseTransactionConnection, sql } from "slonik";
import { z } from "zod";
import { insertAuditEntry } from "../../access/audit-entries-store.ts";
import { eraseInvitations } from "../invitations/store.ts";

/** The name that replaces the person's name. */
const ERASED_NAME = "Deleted account";

const idRow = z.object({ id: z.string() });
const userRow = z.object({ role: z.string(), otherAdmins: z.number() });

/** The database's part of an account's erasure. */
export class AccountErasureStore {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  /** Removes the person's data from the account, in one transaction with its audit entry. */
  erase(userId: string): Promise<{ deviceIds: string[] } | "last_admin" | undefined> {
    return this.#pool.transaction(async (tx) => {
      // Locks all administrators, so that the last two cannot leave at once.
      await tx.query(sql.unsafe`
        select id from users where role = 'admin' or id = ${userId} order by id for update`);
      const user = await tx.maybeOne(sql.type(userRow)`
        select role, (
          select count(*)::int from users o
          where o.role = 'admin' and o.disabled_at is null and o.id <> u.id
        ) as "otherAdmins"
        from users u where id = ${userId} and erased_at is null`);
      if (user === null) return undefined;
      if (user.role === "admin" && user.otherAdmins === 0) return "last_admin";
      const deviceIds = await unpairDevices(tx, userId);
      await leaveWorkspaces(tx, userId);
      await erasePerson(tx, userId);
      await insertAuditEntry(tx, {
        kind: "account_erased",
        actor: { kind: "user", id: userId },
        subjectId: userId,
        detail: { devices: deviceIds.length },
      });
      return { deviceIds };
    });
  }

  /** Sessions of erased accounts that are not deleted yet, with their owners. */
  async orphanedSessions(
    limit: number,
    userId?: string,
  ): Promise<{ id: string; ownerId: string }[]> {
    const owner = userId === undefined ? sql.fragment`true` : sql.fragment`u.id = ${userId}`;
    return [
      ...(await this.#pool.any(sql.type(z.object({ id: z.string(), ownerId: z.string() }))`
        select s.id, s.owner_id as "ownerId"
        from users u join sessions s on s.owner_id = u.id
        where u.erased_at is not null and s.status <> 'deleted' and ${owner}
        order by s.id limit ${limit}`)),
    ];
  }

  countOrphaned(userId: string): Promise<number> {
    return this.#pool.oneFirst(sql.type(z.object({ count: z.number() }))`
      select count(*)::int as count from sessions
      where owner_id = ${userId} and status <> 'deleted'`);
  }
}

async function unpairDevices(tx: DatabaseTransactionConnection, userId: string): Promise<string[]> {
  const devices = await tx.any(sql.type(idRow)`
    update devices set status = 'revoked', name = '', telemetry = '{}'::jsonb, updated_at = now()
    where owner_id = ${userId} and status <> 'revoked' returning id`);
  const ids = devices.map(({ id }) => id);
  await tx.query(sql.unsafe`
    update device_keys set revoked_at = now()
    where device_id = any(${sql.array(ids, "uuid")}) and revoked_at is null`);
  return ids;
}

/** Makes the longest-standing member the owner of each workspace whose only owner leaves. */
async function leaveWorkspaces(tx: DatabaseTransactionConnection, userId: string): Promise<void> {
  await tx.query(sql.unsafe`
    update workspace_members m set role = 'owner'
    from (
      select distinct on (workspace_id) workspace_id, user_id
      from workspace_members
      where user_id <> ${userId} and workspace_id in (
        select workspace_id from workspace_members
        where user_id = ${userId} and role = 'owner')
      order by workspace_id, role = 'owner' desc, created_at, user_id
    ) heir
    where m.workspace_id = heir.workspace_id and m.user_id = heir.user_id`);
  await tx.query(sql.unsafe`delete from workspace_members where user_id = ${userId}`);
  await tx.query(sql.unsafe`delete from session_members where user_id = ${userId}`);
  await eraseInvitations(tx, userId);
}

async function erasePerson(tx: DatabaseTransactionConnection, userId: string): Promise<void> {
  await tx.query(sql.unsafe`delete from logins where user_id = ${userId}`);
  await tx.query(sql.unsafe`delete from magic_links where user_id = ${userId}`);
  await tx.query(sql.unsafe`delete from failed_sign_in_addresses where account_id = ${userId}`);
  await tx.query(sql.unsafe`delete from sign_in_places where user_id = ${userId}`);
  await tx.query(sql.unsafe`delete from user_identities where user_id = ${userId}`);
  await tx.query(sql.unsafe`
    update content_elevations set ended_at = now()
    where admin_id = ${userId} and ended_at is null`);
  await tx.query(sql.unsafe`
    update users
    set email = ${`erased-${userId}@erased.invalid`}, name = ${ERASED_NAME}, password_hash = null,
        verified_email = null, setup_password_hash = null, former_setup_hashes = '{}',
        role = 'participant', disabled_at = coalesce(disabled_at, now()), erased_at = now(),
        tokens_valid_from = clock_timestamp(), updated_at = now()
    where id = ${userId}`);
}
