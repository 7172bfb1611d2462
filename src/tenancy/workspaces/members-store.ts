import { type CommonQueryMethods, type DatabasePool, sql } from "slonik";
import { z } from "zod";
import { insertAuditEntry } from "../../access/audit-entries-store.ts";
import type { AuditActor, AuditKind } from "../../access/audit-entry.ts";
import {
  type Grantor,
  MEMBER_COLUMNS,
  type MemberChange,
  type MemberRecord,
  memberRow,
  type WorkspaceRole,
} from "./store.ts";

const staffRow = z.object({ user_id: z.string(), role: z.enum(["owner", "member"]) });

/**
 * Changes the members of workspaces, each change in one transaction with its audit entry. A
 * workspace keeps at least one owner.
 */
export class WorkspaceMemberStore {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  /** Undefined when the user already is a member. */
  add(
    workspaceId: string,
    userId: string,
    role: WorkspaceRole,
    { by, detail }: Grantor,
  ): Promise<MemberRecord | undefined> {
    return this.#pool.transaction(async (tx) => {
      const row = await tx.maybeOne(sql.type(memberRow)`
        with member as (
          insert into workspace_members (workspace_id, user_id, role)
          values (${workspaceId}, ${userId}, ${role})
          on conflict do nothing
          returning *)
        select ${MEMBER_COLUMNS} from member join users on users.id = user_id`);
      if (row === null) return undefined;
      await record(tx, "workspace_member_added", { workspaceId, userId }, by, {
        role,
        ...detail,
      });
      return row;
    });
  }

  setRole(
    workspaceId: string,
    userId: string,
    role: WorkspaceRole,
    { by, detail }: Grantor,
  ): Promise<MemberChange> {
    return this.#pool.transaction(async (tx) => {
      const { currentRole, isLastOwner } = await lockStaff(tx, workspaceId, userId);
      if (currentRole === undefined) return "not_a_member";
      if (currentRole === role) return "done";
      if (isLastOwner) return "last_owner";
      await tx.query(sql.unsafe`
        update workspace_members set role = ${role}
        where workspace_id = ${workspaceId} and user_id = ${userId}`);
      await record(tx, "workspace_role_changed", { workspaceId, userId }, by, {
        before: currentRole,
        after: role,
        ...detail,
      });
      return "done";
    });
  }

  remove(workspaceId: string, userId: string, by: AuditActor): Promise<MemberChange> {
    return this.#pool.transaction(async (tx) => {
      const { currentRole, isLastOwner } = await lockStaff(tx, workspaceId, userId);
      if (currentRole === undefined) return "not_a_member";
      if (isLastOwner) return "last_owner";
      await tx.query(sql.unsafe`
        delete from workspace_members
        where workspace_id = ${workspaceId} and user_id = ${userId}`);
      await record(tx, "workspace_member_removed", { workspaceId, userId }, by, {
        role: currentRole,
      });
      return "done";
    });
  }
}

/** Reads the user's role under the workspace's lock, so that two owners cannot both leave. */
async function lockStaff(
  tx: CommonQueryMethods,
  workspaceId: string,
  userId: string,
): Promise<{ currentRole: WorkspaceRole | undefined; isLastOwner: boolean }> {
  await tx.query(sql.unsafe`select 1 from workspaces where id = ${workspaceId} for update`);
  const staff = await tx.any(sql.type(staffRow)`
    select user_id, role from workspace_members
    where workspace_id = ${workspaceId} and (role = 'owner' or user_id = ${userId})`);
  const currentRole = staff.find((member) => member.user_id === userId)?.role;
  const owners = staff.filter((member) => member.role === "owner").length;
  return { currentRole, isLastOwner: currentRole === "owner" && owners === 1 };
}

function record(
  tx: CommonQueryMethods,
  kind: AuditKind,
  { workspaceId, userId }: { workspaceId: string; userId: string },
  actor: AuditActor,
  detail: Record<string, string>,
): Promise<void> {
  return insertAuditEntry(tx, { kind, actor, workspaceId, subjectId: userId, detail });
}

/**
 * Takes an account that is erased out of its workspaces. Where it was the only owner the
 * longest-standing member becomes one.
 */
export async function leaveWorkspaces(tx: CommonQueryMethods, userId: string): Promise<void> {
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
}

/** Makes somebody a member of a workspace; false when they are one, which stays as it is. */
export async function joinWorkspace(
  tx: CommonQueryMethods,
  { workspaceId, userId, role }: { workspaceId: string; userId: string; role: string },
): Promise<boolean> {
  const { rowCount } = await tx.query(sql.unsafe`
    insert into workspace_members (workspace_id, user_id, role)
    values (${workspaceId}, ${userId}, ${role}) on conflict do nothing`);
  return rowCount > 0;
}
