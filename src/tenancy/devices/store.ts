import { type CommonQueryMethods, type DatabasePool, sql } from "slonik";
import { z } from "zod";
import { insertAuditEntry } from "../../access/audit-entries-store.ts";
import type { AuditActor } from "../../access/audit-entry.ts";
import { allOf, toPage } from "../../postgres/columns.ts";
import { endedAgain } from "../../postgres/ended-again.ts";
import { optionalColumn } from "../../postgres/optional-column.ts";
import type { Page, PageRequest } from "../../rest/page.ts";
import type { WorkspaceRole } from "../workspaces/store.ts";

export interface DeviceRecord {
  id: string;
  serial: string;
  name: string;
  model: string;
  firmware: string;
  status: "pairing" | "paired" | "revoked";
  /** True while its owner gives it no right. */
  suspended: boolean;
  /** True when its stream may have the words of the session that it records. */
  mayRead: boolean;
  workspaceId?: string | undefined;
  ownerId?: string | undefined;
  lastSeenAt?: number | undefined;
  /** Telemetry of the newest heartbeats. */
  telemetry: Record<string, unknown>;
  createdAt: number;
  updatedAt: number;
}

interface DeviceFilter {
  /** Only devices that this user paired, or of workspaces that the user belongs to. */
  visibleTo?: string;
  workspaceId?: string;
  status?: DeviceRecord["status"];
}

interface DeviceChange {
  name?: string | undefined;
  mayRead?: boolean | undefined;
}

const changedRow = z.object({
  name: z.string(),
  mayRead: z.boolean(),
  ownerId: optionalColumn(z.string()),
  workspaceId: optionalColumn(z.string()),
});

const deviceRow = z.object({
  id: z.string(),
  serial: z.string(),
  name: z.string(),
  model: z.string(),
  firmware: z.string(),
  status: z.enum(["pairing", "paired", "revoked"]),
  suspended: z.boolean(),
  mayRead: z.boolean(),
  workspaceId: optionalColumn(z.string()),
  ownerId: optionalColumn(z.string()),
  lastSeenAt: optionalColumn(z.number()),
  telemetry: z.record(z.unknown()),
  createdAt: z.number(),
  updatedAt: z.number(),
});

const DEVICES = sql.fragment`
  select d.id, serial, d.name, model, firmware, status,
    status = 'paired' and not exists (
      select from workspace_rights(d.workspace_id, d.owner_id) r where r.ended_at is null)
      as suspended,
    d.may_read as "mayRead",
    d.workspace_id as "workspaceId", d.owner_id as "ownerId", last_seen_at as "lastSeenAt",
    telemetry, d.created_at as "createdAt", d.updated_at as "updatedAt"
  from devices d`;

export class DeviceStore {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  async find(id: string): Promise<DeviceRecord | undefined> {
    const row = await this.#pool.maybeOne(sql.type(deviceRow)`${DEVICES} where d.id = ${id}`);
    return row ?? undefined;
  }

  /** The caller's role in the device's workspace; undefined without one. */
  async workspaceRole(deviceId: string, userId: string): Promise<WorkspaceRole | undefined> {
    const row = await this.#pool.maybeOne(sql.type(z.object({ role: z.enum(["owner", "member"]) }))`
      select role from workspace_members
      where user_id = ${userId}
        and workspace_id = (select workspace_id from devices where id = ${deviceId})`);
    return row?.role;
  }

  async list(filter: DeviceFilter, page: PageRequest): Promise<Page<DeviceRecord>> {
    const conditions = [sql.fragment`true`];
    if (page.after !== undefined) conditions.push(sql.fragment`d.id < ${page.after}::uuid`);
    if (filter.status !== undefined) conditions.push(sql.fragment`status = ${filter.status}`);
    if (filter.workspaceId !== undefined) {
      conditions.push(sql.fragment`d.workspace_id = ${filter.workspaceId}::uuid`);
    }
    if (filter.visibleTo !== undefined) {
      conditions.push(sql.fragment`(d.owner_id = ${filter.visibleTo} or d.workspace_id in (
        select workspace_id from workspace_members where user_id = ${filter.visibleTo}))`);
    }
    const rows = await this.#pool.any(sql.type(deviceRow)`
      ${DEVICES} where ${allOf(conditions)}
      order by d.id desc limit ${page.limit + 1}`);
    return toPage(rows, page.limit, (device) => device.id);
  }

  /**
   * False, and nothing is changed, when `expected` is given and no longer what the device is, or when
   * `mayRead` is given and the device is no longer its maker's.
   */
  change(
    id: string,
    { name, mayRead }: DeviceChange,
    by: AuditActor,
    expected?: Required<DeviceChange>,
  ): Promise<boolean> {
    return this.#pool.transaction(async (tx) => {
      const before = await tx.maybeOne(sql.type(changedRow)`
        select name, may_read as "mayRead", owner_id as "ownerId", workspace_id as "workspaceId"
        from devices where id = ${id} for update`);
      if (before === null) return false;
      const isStale =
        expected !== undefined &&
        (before.name !== expected.name || before.mayRead !== expected.mayRead);
      if (isStale || (mayRead !== undefined && before.ownerId !== by.id)) return false;
      await tx.query(sql.unsafe`
        update devices
        set name = coalesce(${name ?? null}, name),
            may_read = coalesce(${mayRead ?? null}, may_read), updated_at = now()
        where id = ${id}`);
      if (mayRead === undefined || mayRead === before.mayRead) return true;
      await insertAuditEntry(tx, {
        kind: "device_reading_changed",
        actor: by,
        workspaceId: before.workspaceId,
        subjectId: id,
        detail: { may_read: mayRead },
      });
      return true;
    });
  }
}

/** Unpairs the devices of an account that is erased; what they said of themselves goes. */
export async function unpairDevicesOf(tx: CommonQueryMethods, userId: string): Promise<void> {
  await tx.query(sql.unsafe`
    with unpaired as (
      update devices set status = 'revoked', name = '', telemetry = '{}'::jsonb, updated_at = now()
      where owner_id = ${userId} and status <> 'revoked' returning id)
    update device_keys set revoked_at = now()
    from unpaired where device_id = unpaired.id and revoked_at is null`);
}

/** For whoever deletes a workspace; resolves to the ids of its devices. */
export async function unpairDevices(
  tx: CommonQueryMethods,
  workspaceId: string,
): Promise<string[]> {
  const rows = await tx.any(sql.type(z.object({ id: z.string() }))`
    update devices set status = 'revoked', updated_at = now()
    where workspace_id = ${workspaceId} and status <> 'revoked'
    returning id`);
  const ids = rows.map(({ id }) => id);
  await tx.query(sql.unsafe`
    update device_keys set revoked_at = now()
    where device_id = any(${sql.array(ids, "uuid")}) and revoked_at is null`);
  return ids;
}

/**
 * Ends keys again that the ledger says have ended; resolves to how many. The ledger has times in
 * whole milliseconds.
 */
export async function endDeviceKeysAgain(db: CommonQueryMethods): Promise<number> {
  const { rowCount } = await db.query(sql.unsafe`
    update device_keys r set expires_at = e.at
    ${endedAgain("device_key_ended", sql.fragment`least(r.revoked_at, r.expires_at)`)}`);
  return rowCount;
}
