import type { AuditEntry } from "../../access/audit-entry.ts";
import type { Scope } from "../../access/principal.ts";

/** One secret of a service key. */
export interface ServiceKeyStatus {
  keyId: string;
  secretId: string;
  workspaceId: string;
  /** Whose right it is; absent when that user's account is gone. */
  makerId?: string | undefined;
  /** True while the maker is disabled, erased, or no longer in the role that let them make it. */
  suspended: boolean;
  scopes: readonly Scope[];
  /** When this secret expires, Unix milliseconds. */
  expiresAt: number;
}

export const KEY_STATUSES = ["active", "suspended", "expired"] as const;

/** `suspended` and `expired` keys are refused; a suspended one may come back. */
type KeyStatus = (typeof KEY_STATUSES)[number];

/** A service key as its workspace's owners see it. */
export interface ServiceKeyRecord {
  id: string;
  workspaceId: string;
  name: string;
  scopes: readonly Scope[];
  /** The first characters of the newest secret. */
  prefix: string;
  /** Who made, rotated or took it over last; absent when that user's account is gone. */
  createdBy?: string | undefined;
  status: KeyStatus;
  createdAt: number;
  /** When the newest secret was made. */
  secretCreatedAt: number;
  expiresAt: number;
  lastUsedAt?: number | undefined;
}

export interface NewServiceKeySecret {
  id: string;
  hash: Uint8Array;
  prefix: string;
  createdAt: number;
  expiresAt: number;
  /** The owner of the workspace whose right it is. */
  madeBy: string;
}

export interface NewServiceKey {
  id: string;
  workspaceId: string;
  name: string;
  scopes: readonly Scope[];
  secret: NewServiceKeySecret;
}

/** Selects keys: those of one workspace, those in workspaces that a user owns, or all. */
export interface ServiceKeyFilter {
  workspaceId?: string | undefined;
  ownerId?: string | undefined;
  status?: KeyStatus | undefined;
  createdBy?: string | undefined;
}

/**
 * Stored service keys. A revoked key is treated as absent. Every change writes the given audit
 * entry in the same transaction.
 */
export interface ServiceKeyRecords {
  /** Undefined when unknown or revoked. Records the key's use about once a minute. */
  statusByHash(secretHash: Uint8Array): Promise<ServiceKeyStatus | undefined>;
  statusBySecret(secretId: string): Promise<ServiceKeyStatus | undefined>;
  insert(key: NewServiceKey, entry: AuditEntry): Promise<ServiceKeyRecord>;
  find(keyId: string): Promise<ServiceKeyRecord | undefined>;
  list(
    filter: ServiceKeyFilter,
    page: { limit: number; after?: string },
  ): Promise<{ items: ServiceKeyRecord[]; next?: string }>;
  /**
   * Adds a secret. The newest secret before it expires at `othersExpireAt` at the latest, older
   * ones at once. Undefined when there is no such key.
   */
  addSecret(
    keyId: string,
    secret: NewServiceKeySecret,
    othersExpireAt: number,
    entry: AuditEntry,
  ): Promise<ServiceKeyRecord | undefined>;
  /** Makes the user the maker of all its secrets. Undefined when there is no such key. */
  adopt(
    keyId: string,
    by: { userId: string; as: "owner" | "admin" },
    entry: AuditEntry,
  ): Promise<ServiceKeyRecord | undefined>;
  /** False when there was nothing to revoke. */
  revoke(keyId: string, entry: AuditEntry): Promise<boolean>;
}
