import { type CommonQueryMethods, type DatabasePool, sql } from "slonik";
import { z } from "zod";
import { insertAuditEntry } from "../../access/audit-entries-store.ts";
import type { AuditActor } from "../../access/audit-trail.ts";
import { AppError } from "../../base/errors.ts";
import type { WorkspaceRecord } from "./workspaces-directory.ts";
import type { RemovedWorkspace, WorkspaceChange, WorkspaceEdits } from "./workspaces-edit.ts";
import { WORKSPACE_COLUMNS, workspaceRow } from "./workspaces-store.ts";

const idRow = z.object({ id: z.string() });
const nothing = z.object({}).strict();

/** Changes and the end of workspaces, each in one transaction with its audit entry. */
export class WorkspaceEditStore implements WorkspaceEdits {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  change(
    id: string,
    change: WorkspaceChange,
    by: AuditActor,
    since?: number,
  ): Promise<WorkspaceRecord | undefined> {
    return this.#pool.transaction(async (tx) => {
      const before = await lockWorkspace(tx, id);
      if (before === undefined) return undefined;
      if (since !== undefined && Math.floor(before.updatedAt) !== since) return undefined;
      const after = await updateWorkspace(tx, id, change);
      if (before.retentionDays !== after.retentionDays) {
        const detail = { before: before.retentionDays ?? "", after: after.retentionDays ?? "" };
        await insertAuditEntry(tx, {
          kind: "retention_changed",
          actor: by,
          workspaceId: id,
          detail,
        });
      }
      return after;
    });
  }

  remove(id: string, by: AuditActor): Promise<RemovedWorkspace> {
    return this.#pool.transaction(async (tx) => {
      // A session that starts meanwhile waits for this lock, and then finds no workspace.
      if ((await lockWorkspace(tx, id)) === undefined) {
        throw new AppError("not_found", "There is no workspace with this id.");
      }
      await assertNoSessions(tx, id);
      await tx.query(sql.unsafe`
        update workspaces set deleted_at = now(), updated_at = now() where id = ${id}`);
      await tx.query(sql.unsafe`delete from workshops where workspace_id = ${id}`);
      await tx.query(sql.unsafe`delete from webhooks where workspace_id = ${id}`);
      const memberIds = await removeMembers(tx, id);
      const deviceIds = await unpairDevices(tx, id);
      await insertAuditEntry(tx, {
        kind: "workspace_deleted",
        actor: by,
        workspaceId: id,
        subjectId: id,
        detail: { members: memberIds.length, devices: deviceIds.length },
      });
      return { memberIds, deviceIds };
    });
  }
}

async function lockWorkspace(
  tx: CommonQueryMethods,
  id: string,
): Promise<WorkspaceRecord | undefined> {
  const row = await tx.maybeOne(sql.type(workspaceRow)`
    select ${WORKSPACE_COLUMNS} from workspaces
    where id = ${id} and deleted_at is null for update`);
  return row ?? undefined;
}

async function updateWorkspace(
  tx: CommonQueryMethods,
  id: string,
  change: WorkspaceChange,
): Promise<WorkspaceRecord> {
  const { name, preferredLanguage, workspaceType, retentionDays } = change;
  const retention =
    retentionDays === undefined
      ? sql.fragment`retention_days`
      : sql.fragment`${retentionDays}::integer`;
  const row = await tx.one(sql.type(workspaceRow)`
    update workspaces
    set name = coalesce(${name ?? null}, name),
        preferred_language = coalesce(${preferredLanguage ?? null}, preferred_language),
        workspace_type = coalesce(${workspaceType ?? null}, workspace_type),
        retention_days = ${retention},
        updated_at = now()
    where id = ${id}
    returning ${WORKSPACE_COLUMNS}`);
  return row;
}

async function assertNoSessions(tx: CommonQueryMethods, workspaceId: string): Promise<void> {
  const left = await tx.exists(sql.type(nothing)`
    select from sessions where workspace_id = ${workspaceId} and status <> 'deleted'`);
  if (!left) return;
  throw new AppError("conflict", "The workspace still has sessions. Delete them first.");
}

async function removeMembers(tx: CommonQueryMethods, workspaceId: string): Promise<string[]> {
  const rows = await tx.any(sql.type(idRow)`
    delete from workspace_members where workspace_id = ${workspaceId} returning user_id as id`);
  return rows.map(({ id }) => id);
}

async function unpairDevices(tx: CommonQueryMethods, workspaceId: string): Promise<string[]> {
  const rows = await tx.any(sql.type(idRow)`
    update devices set status = 'revoked', updated_at = now()
    where workspace_id = ${workspaceId} and status <> 'revoked'
    returning id`);
  const ids = rows.map(({ id }) => id);
  await tx.query(sql.unsafe`
    update device_keys set revoked_at = now()
    where device_id = any(${sql.array(ids, "uuid")}) and revoked_at is null`);
  return ids;
}
