import { type AuditEntry, type AuditKind, actorOf } from "../../access/audit-entry.ts";
import { type ElevationInForce, elevationDetail } from "../../access/elevation.ts";
import type { Scope, UserPrincipal } from "../../access/principal.ts";
import type { RevocationFeed } from "../../access/revocations.ts";
import { newServiceKey, secretHash, shownPart } from "../../access/secrets.ts";
import type { Clock } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import { newId } from "../../base/ids.ts";
import type {
  NewServiceKeySecret,
  ServiceKeyRecord,
  ServiceKeyRecords,
} from "../accounts/service-key-records.ts";

const DAY = 24 * 3_600_000;
const DEFAULT_LIFETIME = 365 * DAY;
const MAX_LIFETIME = 2 * 365 * DAY;
/**
 * Time that the previous secret stays valid after a rotation, so that services can be changed over.
 */
const OVERLAP = DAY;

interface ServiceKeyOptions {
  store: ServiceKeyRecords;
  revocations: RevocationFeed;
  clock: Clock;
}

interface ServiceKeyRequest {
  workspaceId: string;
  name: string;
  scopes: readonly Scope[];
  /** Unix milliseconds; a year from now when undefined. */
  expiresAt: number | undefined;
}

export interface IssuedServiceKey {
  /** The secret's text, which is shown only this once. */
  secret: string;
  record: ServiceKeyRecord;
}

/** Issues, rotates and revokes service keys. The caller has checked the right to do so. */
export class ServiceKeys {
  readonly #options: ServiceKeyOptions;

  constructor(options: ServiceKeyOptions) {
    this.#options = options;
  }

  /** Issues a key. Rejects with `invalid_body` when the expiry is not within two years from now. */
  async issue(by: UserPrincipal, request: ServiceKeyRequest): Promise<IssuedServiceKey> {
    const { store, clock } = this.#options;
    const { expiresAt = clock.now() + DEFAULT_LIFETIME, ...wanted } = request;
    const { secret, entry } = this.#newSecret(by, expiresAt);
    const key = { ...wanted, id: newId(clock.now()), secret: entry };
    const detail = { name: key.name, scopes: key.scopes.join(" ") };
    const record = await store.insert(key, {
      ...auditEntry("service_key_issued", by, key),
      detail,
    });
    return { secret, record };
  }

  /**
   * Issues another secret with the lifetime of the previous one, unless `expiresAt` is given. The
   * previous secret is valid for 24 h more at most.
   */
  async rotate(
    by: UserPrincipal,
    key: ServiceKeyRecord,
    expiresAt: number | undefined,
  ): Promise<IssuedServiceKey> {
    const { store, clock, revocations } = this.#options;
    const lifetime = key.expiresAt - key.secretCreatedAt;
    const { secret, entry } = this.#newSecret(by, expiresAt ?? clock.now() + lifetime);
    const audit = auditEntry("service_key_rotated", by, key);
    const record = await store.addSecret(key.id, entry, clock.now() + OVERLAP, audit);
    if (record === undefined) throw unknownKey();
    revocations.publish({ kind: "service_key", keyId: key.id });
    return { secret, record };
  }

  /**
   * Makes `by` the maker of the key. Whoever has seen its secrets knows them still: only a rotation
   * ends that.
   *
   * @param elevation under which an administrator takes over what is no key of an owner then
   */
  async adopt(
    by: UserPrincipal,
    key: ServiceKeyRecord,
    elevation: ElevationInForce | undefined,
  ): Promise<ServiceKeyRecord> {
    const { store, revocations } = this.#options;
    const as = elevation === undefined ? "owner" : "admin";
    const before: AuditEntry["detail"] =
      key.createdBy === undefined ? {} : { before: key.createdBy };
    const adopted = await store.adopt(
      key.id,
      { userId: by.id, as },
      {
        ...auditEntry("service_key_adopted", by, key),
        detail: { ...before, ...elevationDetail(elevation) },
      },
    );
    if (adopted === undefined) throw unknownKey();
    revocations.publish({ kind: "service_key", keyId: key.id });
    return adopted;
  }

  async revoke(by: UserPrincipal, key: ServiceKeyRecord): Promise<void> {
    const { store, revocations } = this.#options;
    const revoked = await store.revoke(key.id, auditEntry("service_key_revoked", by, key));
    if (!revoked) throw unknownKey();
    revocations.publish({ kind: "service_key", keyId: key.id });
  }

  #newSecret(by: UserPrincipal, expiresAt: number): { secret: string; entry: NewServiceKeySecret } {
    const now = this.#options.clock.now();
    if (expiresAt <= now || expiresAt > now + MAX_LIFETIME) {
      throw new AppError("invalid_body", "`expires_at` must be in the future, within two years.");
    }
    const secret = newServiceKey();
    const entry = {
      id: newId(now),
      hash: secretHash(secret),
      prefix: shownPart(secret),
      createdAt: now,
      expiresAt,
      madeBy: by.id,
    };
    return { secret, entry };
  }
}

function auditEntry(
  kind: AuditKind,
  by: UserPrincipal,
  key: { id: string; workspaceId: string },
): AuditEntry {
  return { kind, actor: actorOf(by), workspaceId: key.workspaceId, subjectId: key.id };
}

export function unknownKey(): AppError {
  return new AppError("not_found", "There is no key with this id.");
}
