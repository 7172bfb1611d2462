import type { AuditActor } from "../../access/audit-trail.ts";

/** A device that asks to be paired. */
export interface NewDevice {
  id: string;
  serial: string;
  name: string;
  model: string;
  firmware: string;
  pairingSecretHash: Uint8Array;
}

export interface NewPairingCode {
  codeHash: Uint8Array;
  deviceId: string;
  expiresAt: number;
}

/** Written to the audit log in the same step. */
export interface NewDeviceKey {
  id: string;
  keyHash: Uint8Array;
  expiresAt: number;
  /** The keys before it are valid until here at most. */
  othersExpireAt: number;
  issuedBy: AuditActor;
}

export interface Approval {
  codeHash: Uint8Array;
  workspaceId: string;
  ownerId: string;
  name: string | undefined;
  /** Issued in the same step, when given. */
  key: NewDeviceKey | undefined;
  now: number;
}

export type ApprovalOutcome =
  | { kind: "paired"; deviceId: string }
  /** Never published, or expired. */
  | { kind: "unknown_code" }
  /** Somebody was faster. */
  | { kind: "used_code" };

export interface PairingStanding {
  deviceId: string;
  status: "pairing" | "paired" | "revoked";
  /** Of the device's newest code; undefined when it has none. */
  codeExpiresAt: number | undefined;
  /** The user who paired it is not disabled. */
  ownerActive: boolean;
}

/** Devices on their way in, their codes and keys. */
export interface PairingBook {
  /** False, and nothing recorded, when a code that is live at `now` has this hash. */
  publish(device: NewDevice, code: NewPairingCode, now: number): Promise<boolean>;
  /** Of all that approve one code at once, exactly one is told `paired`. */
  approve(approval: Approval): Promise<ApprovalOutcome>;
  standingById(deviceId: string): Promise<PairingStanding | undefined>;
  standingByCode(codeHash: Uint8Array): Promise<PairingStanding | undefined>;
  standingBySecret(secretHash: Uint8Array): Promise<PairingStanding | undefined>;
  /** False when the device is not paired (any more). */
  addKey(deviceId: string, key: NewDeviceKey, now: number): Promise<boolean>;
  /** A device that is paired from the start, with its key. */
  addPaired(
    device: NewDevice,
    pairing: { workspaceId: string; ownerId: string },
    key: NewDeviceKey,
  ): Promise<void>;
  /** Unpairs, once, with an audit entry: every key, code and the pairing secret end with it. */
  unpair(deviceId: string, by: AuditActor): Promise<void>;
}
