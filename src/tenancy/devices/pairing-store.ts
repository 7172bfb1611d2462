import { type DatabasePool, type DatabaseTransactionConnection, sql } from "slonik";
import { z } from "zod";
import { insertAuditEntry } from "../../access/audit-entries-store.ts";
import type { AuditActor } from "../../access/audit-entry.ts";
import { LookupBatcher, MANY_KEYS } from "../../base/lookup-batcher.ts";
import { type Ceilings, NO_CEILINGS } from "../../postgres/ceilings.ts";
import { toInstant } from "../../postgres/columns.ts";
import type { DeviceKeyRecords, DeviceKeyStatus } from "../accounts/credential-authenticator.ts";

/** A device that asks to be paired. */
export interface NewDevice {
  id: string;
  serial: string;
  name: string;
  model: string;
  firmware: string;
  pairingSecretHash: Uint8Array;
}

interface NewPairingCode {
  codeHash: Uint8Array;
  deviceId: string;
  expiresAt: number;
}

/** A device key; written to the audit log in the same transaction. */
export interface NewDeviceKey {
  id: string;
  keyHash: Uint8Array;
  expiresAt: number;
  /** Keys issued before it expire at this time at the latest. */
  othersExpireAt: number;
  issuedBy: AuditActor;
}

interface Approval {
  codeHash: Uint8Array;
  workspaceId: string;
  ownerId: string;
  name: string | undefined;
  /** Issued in the same transaction, when given. */
  key: NewDeviceKey | undefined;
  now: number;
}

type ApprovalOutcome =
  | { kind: "paired"; deviceId: string }
  /** The code was never published, or has expired. */
  | { kind: "unknown_code" }
  /** Another approval used the code first. */
  | { kind: "used_code" };

export interface PairingState {
  deviceId: string;
  status: "pairing" | "paired" | "revoked";
  /** When the device's newest code expires; undefined when it has none. */
  codeExpiresAt: number | undefined;
  /** True while the user who paired the device gives it their right. */
  ownerIsActive: boolean;
}

/** Most keys of one device that are valid at once; further renewals end the oldest early. */
const LIVE_KEYS = 5;
/** With each new code, a few devices are deleted that were not paired within a day. */
const FORGET_BATCH = 20;

const placeRow = z.object({ workspace_id: z.string().nullable() });

const idRow = z.object({ id: z.string() });

const codeRow = z.object({
  device_id: z.string(),
  expires_at: z.number(),
  used_at: z.number().nullable(),
  status: z.string(),
});

const stateRow = z.object({
  id: z.string(),
  status: z.enum(["pairing", "paired", "revoked"]),
  code_expires_at: z.number().nullable(),
  owner_stands: z.boolean(),
});

const keyRow = z.object({
  id: z.string(),
  key_hash: z.string(),
  device_id: z.string(),
  workspace_id: z.string(),
  owner_id: z.string(),
  expires_at: z.number(),
  ended_at: z.number().nullable(),
  suspended: z.boolean(),
});

type Fragment = ReturnType<typeof sql.fragment>;

function bytes(value: Uint8Array): ReturnType<typeof sql.binary> {
  return sql.binary(Buffer.from(value));
}

/** Devices being paired, their codes and keys, in PostgreSQL. */
export class PairingStore implements DeviceKeyRecords {
  readonly #pool: DatabasePool;
  readonly #ceilings: Ceilings;
  readonly #keys: LookupBatcher<string, DeviceKeyStatus>;
  readonly #openKeys: LookupBatcher<string, DeviceKeyStatus>;

  constructor(pool: DatabasePool, ceilings = NO_CEILINGS) {
    this.#pool = pool;
    this.#ceilings = ceilings;
    this.#keys = new LookupBatcher((hashes) => this.#byHash(hashes), MANY_KEYS);
    this.#openKeys = new LookupBatcher((ids) => this.#byId(ids), MANY_KEYS);
  }

  /** False, and nothing is recorded, when a code that is live at `now` has this hash. */
  publish(device: NewDevice, code: NewPairingCode, now: number): Promise<boolean> {
    return this.#pool.transaction(async (transaction) => {
      const taken = await transaction.maybeOne(sql.type(idRow)`
        select device_id as id from pairing_codes
        where code_hash = ${bytes(code.codeHash)} and expires_at > ${toInstant(now)}`);
      if (taken !== null) return false;
      await forgetUnpaired(transaction, now);
      await insertDevice(transaction, device, sql.fragment`'pairing', null, null`);
      const published = await transaction.maybeOne(sql.type(idRow)`
        insert into pairing_codes as code (code_hash, device_id, expires_at)
        values (${bytes(code.codeHash)}, ${device.id}, ${toInstant(code.expiresAt)})
        on conflict (code_hash) do update
          set device_id = excluded.device_id, expires_at = excluded.expires_at,
            used_at = null, created_at = now()
          where code.expires_at <= ${toInstant(now)}
        returning device_id as id`);
      if (published === null) {
        // Another device published the same code first.
        await transaction.query(sql.unsafe`delete from devices where id = ${device.id}`);
      }
      return published !== null;
    });
  }

  /** Approves a code. Of concurrent approvals of one code exactly one gets `paired`. */
  approve(approval: Approval): Promise<ApprovalOutcome> {
    return this.#pool.transaction(async (transaction) => {
      const code = await transaction.maybeOne(sql.type(codeRow)`
        select device_id, expires_at, used_at, status
        from pairing_codes join devices on devices.id = device_id
        where code_hash = ${bytes(approval.codeHash)}
        for update`);
      if (code === null || code.expires_at <= approval.now) return { kind: "unknown_code" };
      if (code.used_at !== null || code.status !== "pairing") return { kind: "used_code" };
      await this.#assertRoom(transaction, approval);
      const name = approval.name ?? null;
      await transaction.query(sql.unsafe`
        update pairing_codes set used_at = ${toInstant(approval.now)}
        where code_hash = ${bytes(approval.codeHash)}`);
      await transaction.query(sql.unsafe`
        update devices set status = 'paired', workspace_id = ${approval.workspaceId},
          owner_id = ${approval.ownerId}, name = coalesce(${name}::text, name), updated_at = now()
        where id = ${code.device_id}`);
      if (approval.key !== undefined) {
        await insertKey(transaction, code.device_id, approval.key);
        await recordKey(transaction, code.device_id, approval.workspaceId, approval.key);
      }
      return { kind: "paired", deviceId: code.device_id };
    });
  }

  stateById(deviceId: string): Promise<PairingState | undefined> {
    return this.#state(sql.fragment`d.id = ${deviceId}`);
  }

  stateByCode(codeHash: Uint8Array): Promise<PairingState | undefined> {
    return this.#state(sql.fragment`d.id = (
      select device_id from pairing_codes where code_hash = ${bytes(codeHash)})`);
  }

  stateBySecret(hash: Uint8Array): Promise<PairingState | undefined> {
    return this.#state(sql.fragment`pairing_secret_hash = ${bytes(hash)}`);
  }

  /** Adds a key. False when the device is not paired (any more). */
  addKey(deviceId: string, key: NewDeviceKey, now: number): Promise<boolean> {
    return this.#pool.transaction(async (transaction) => {
      const device = await transaction.maybeOne(sql.type(placeRow)`
        select workspace_id from devices
        where id = ${deviceId} and status = 'paired' for update`);
      if (device === null) return false;
      await transaction.query(sql.unsafe`
        update device_keys set expires_at = least(expires_at, ${toInstant(key.othersExpireAt)})
        where device_id = ${deviceId} and revoked_at is null`);
      await insertKey(transaction, deviceId, key);
      await transaction.query(sql.unsafe`
        update device_keys set revoked_at = now()
        where id in (
          select id from device_keys
          where device_id = ${deviceId} and revoked_at is null and expires_at > ${toInstant(now)}
          order by id desc offset ${LIVE_KEYS})`);
      await recordKey(transaction, deviceId, device.workspace_id, key);
      return true;
    });
  }

  /** Adds a device that is paired from the start, with its key. */
  addPaired(
    device: NewDevice,
    pairing: { workspaceId: string; ownerId: string },
    key: NewDeviceKey,
  ): Promise<void> {
    return this.#pool.transaction(async (transaction) => {
      const { workspaceId, ownerId } = pairing;
      await this.#assertRoom(transaction, pairing);
      await insertDevice(
        transaction,
        device,
        sql.fragment`'paired', ${workspaceId}::uuid, ${ownerId}::uuid`,
      );
      await insertKey(transaction, device.id, key);
      await recordKey(transaction, device.id, workspaceId, key);
    });
  }

  /**
   * Unpairs the device and ends all its keys, codes and its pairing secret. Writes one audit entry.
   */
  unpair(deviceId: string, by: AuditActor): Promise<void> {
    return this.#pool.transaction(async (transaction) => {
      const device = await transaction.maybeOne(sql.type(placeRow)`
        update devices set status = 'revoked', updated_at = now()
        where id = ${deviceId} and status <> 'revoked'
        returning workspace_id`);
      if (device === null) return;
      await transaction.query(sql.unsafe`
        update device_keys set revoked_at = now()
        where device_id = ${deviceId} and revoked_at is null`);
      await transaction.query(sql.unsafe`
        update pairing_codes set used_at = coalesce(used_at, now())
        where device_id = ${deviceId}`);
      await insertAuditEntry(transaction, {
        kind: "device_unpaired",
        actor: by,
        workspaceId: device.workspace_id ?? undefined,
        subjectId: deviceId,
      });
    });
  }

  statusByHash(keyHash: Uint8Array): Promise<DeviceKeyStatus | undefined> {
    return this.#keys.get(Buffer.from(keyHash).toString("hex"));
  }

  statusByKey(keyId: string): Promise<DeviceKeyStatus | undefined> {
    return this.#openKeys.get(keyId);
  }

  /** Throws `quota_exceeded` when the workspace or its user has no room for another device. */
  async #assertRoom(
    transaction: DatabaseTransactionConnection,
    { workspaceId, ownerId }: Pick<Approval, "workspaceId" | "ownerId">,
  ): Promise<void> {
    await this.#ceilings.assertRoom(transaction, "devices_per_workspace", workspaceId);
    await this.#ceilings.assertRoom(transaction, "devices_per_user", ownerId);
  }

  /** Looks up many devices at a time, as every request of a device shows its key. */
  async #byHash(hashes: readonly string[]): Promise<(DeviceKeyStatus | undefined)[]> {
    const rows = await this.#readKeys(
      sql.fragment`(
        select decode(hash, 'hex') as hash from unnest(${sql.array([...hashes], "text")}) as hash
      ) as wanted`,
      sql.fragment`key_hash = wanted.hash`,
    );
    const found = new Map(rows.map((row) => [row.key_hash, row]));
    return hashes.map((hash) => toStatus(found.get(hash)));
  }

  /** Looks up keys of open sockets, many at a time when it is unknown whose right has ended. */
  async #byId(ids: readonly string[]): Promise<(DeviceKeyStatus | undefined)[]> {
    const rows = await this.#readKeys(
      sql.fragment`unnest(${sql.array([...ids], "uuid")}) as wanted (id)`,
      sql.fragment`device_keys.id = wanted.id`,
    );
    const found = new Map(rows.map((row) => [row.id, row]));
    return ids.map((id) => toStatus(found.get(id)));
  }

  async #state(which: Fragment): Promise<PairingState | undefined> {
    const row = await this.#pool.maybeOne(sql.type(stateRow)`
      select d.id, status,
        (select max(expires_at) from pairing_codes where device_id = d.id) as code_expires_at,
        exists (
          select from workspace_rights(d.workspace_id, d.owner_id) r where r.ended_at is null
        ) as owner_stands
      from devices d where ${which}`);
    if (row === null) return undefined;
    return {
      deviceId: row.id,
      status: row.status,
      codeExpiresAt: row.code_expires_at ?? undefined,
      ownerIsActive: row.owner_stands,
    };
  }

  /**
   * Reads the keys, also those of which the right has ended; each is looked up by its index, however
   * many are wanted.
   */
  #readKeys(wanted: Fragment, match: Fragment): Promise<readonly z.infer<typeof keyRow>[]> {
    return this.#pool.any(sql.type(keyRow)`
      select found.* from ${wanted} cross join lateral (
        select device_keys.id, encode(key_hash, 'hex') as key_hash, device_id, d.workspace_id,
          d.owner_id, expires_at,
          least(
            revoked_at,
            case when d.status <> 'paired' then d.updated_at end,
            r.ended_at) as ended_at,
          revoked_at is null and d.status = 'paired' and r.ended_at is not null as suspended
        from device_keys join devices d on d.id = device_id
          cross join lateral workspace_rights(d.workspace_id, d.owner_id) r
        where ${match} and d.workspace_id is not null
        limit 1) as found`);
  }
}

function toStatus(row: z.infer<typeof keyRow> | undefined): DeviceKeyStatus | undefined {
  return (
    row && {
      keyId: row.id,
      deviceId: row.device_id,
      workspaceId: row.workspace_id,
      ownerId: row.owner_id,
      expiresAt: row.expires_at,
      endedAt: row.ended_at ?? undefined,
      suspended: row.suspended,
    }
  );
}

async function insertDevice(
  transaction: DatabaseTransactionConnection,
  device: NewDevice,
  pairing: Fragment,
): Promise<void> {
  await transaction.query(sql.unsafe`
    insert into devices (id, serial, name, model, firmware, pairing_secret_hash,
      status, workspace_id, owner_id)
    values (${device.id}, ${device.serial}, ${device.name}, ${device.model}, ${device.firmware},
      ${bytes(device.pairingSecretHash)}, ${pairing})`);
}

async function insertKey(
  transaction: DatabaseTransactionConnection,
  deviceId: string,
  key: NewDeviceKey,
): Promise<void> {
  await transaction.query(sql.unsafe`
    insert into device_keys (id, device_id, key_hash, expires_at)
    values (${key.id}, ${deviceId}, ${bytes(key.keyHash)}, ${toInstant(key.expiresAt)})`);
}

/** Writes the audit entry of a key. Must come last in a transaction. */
async function recordKey(
  transaction: DatabaseTransactionConnection,
  deviceId: string,
  workspaceId: string | null,
  key: NewDeviceKey,
): Promise<void> {
  await insertAuditEntry(transaction, {
    kind: "device_key_issued",
    actor: key.issuedBy,
    workspaceId: workspaceId ?? undefined,
    subjectId: deviceId,
    detail: { key_id: key.id },
  });
}

async function forgetUnpaired(
  transaction: DatabaseTransactionConnection,
  now: number,
): Promise<void> {
  await transaction.query(sql.unsafe`
    delete from devices where id in (
      select id from devices
      where status = 'pairing' and created_at < ${toInstant(now - 24 * 3_600_000)}
      limit ${FORGET_BATCH} for update skip locked)`);
}
