import type { AcceptedCredential, Authenticator } from "../../access/authenticator.ts";
import type {
  DevicePrincipal,
  GuestPrincipal,
  Principal,
  ServicePrincipal,
  UserPrincipal,
} from "../../access/principal.ts";
import type { RevocationFeed } from "../../access/revocations.ts";
import {
  bearerOf,
  compatKeyOf,
  isDeviceKey,
  isServiceKey,
  secretHash,
} from "../../access/secrets.ts";
import type { Clock } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import type { GuestRecords, GuestStatus } from "./guest-records.ts";
import type { ServiceKeyRecords, ServiceKeyStatus } from "./service-key-records.ts";
import type { LoginStatus, LoginStore } from "./sign-in-store.ts";
import type { Tokens } from "./tokens.ts";

interface Entry<V> {
  value: Promise<V>;
  until: number;
}

/**
 * Caches answers for a short time, at most `capacity` of them. Callers that ask at the same time
 * share one look-up. Failures are not cached.
 */
class ShortCache<V> {
  readonly #entries = new Map<string, Entry<V>>();
  readonly #clock: Clock;
  readonly #milliseconds: number;
  readonly #capacity: number;

  constructor(clock: Clock, milliseconds: number, capacity: number) {
    this.#clock = clock;
    this.#milliseconds = milliseconds;
    this.#capacity = capacity;
  }

  /** Returns the cached answer; undefined when there is none. */
  peek(key: string): Promise<V> | undefined {
    const known = this.#entries.get(key);
    return known !== undefined && known.until > this.#clock.monotonic() ? known.value : undefined;
  }

  get(key: string, load: () => Promise<V>): Promise<V> {
    const now = this.#clock.monotonic();
    const known = this.#entries.get(key);
    if (known !== undefined && known.until > now) return known.value;
    const entry = { value: load(), until: now + this.#milliseconds };
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    if (this.#entries.size > this.#capacity) this.#dropOldest();
    entry.value.catch(() => {
      if (this.#entries.get(key) === entry) this.#entries.delete(key);
    });
    return entry.value;
  }

  clear(): void {
    this.#entries.clear();
  }

  #dropOldest(): void {
    for (const key of this.#entries.keys()) {
      this.#entries.delete(key);
      return;
    }
  }
}

export interface DeviceKeyStatus {
  keyId: string;
  deviceId: string;
  workspaceId: string;
  ownerId: string;
  /** Unix milliseconds. */
  expiresAt: number;
  /** When the right ended before `expiresAt`, Unix milliseconds. */
  endedAt?: number | undefined;
  /** True when it ended with the owner's right only, and so may come back. */
  suspended: boolean;
}

/** Looks up stored device keys. */
export interface DeviceKeyRecords {
  /** Undefined when the key is unknown, or the account of who paired the device was erased. */
  statusByHash(keyHash: Uint8Array): Promise<DeviceKeyStatus | undefined>;
  statusByKey(keyId: string): Promise<DeviceKeyStatus | undefined>;
}

/**
 * A right that was revoked is refused after this time at the latest, even if the revocation's
 * message was lost.
 */
const CACHE_MILLISECONDS = 2_000;
const CACHE_CAPACITY = 10_000;
/** Device keys are cached longer, as devices send them every few seconds. */
const DEVICE_CACHE_MILLISECONDS = 4_000;
const DEVICE_CACHE_CAPACITY = 50_000;
/** Time after the end of a device's right in which it may bring what it had begun. */
const BACKLOG_MILLISECONDS = 24 * 3_600_000;

interface AuthenticatorOptions {
  tokens: Tokens;
  logins: Pick<LoginStore, "status">;
  guests: Pick<GuestRecords, "status">;
  deviceKeys: DeviceKeyRecords;
  serviceKeys: Pick<ServiceKeyRecords, "statusByHash" | "statusBySecret">;
  revocations: RevocationFeed;
  clock: Clock;
}

/** Checks a credential itself, then whether the right behind it is still in the store. */
export class CredentialAuthenticator implements Authenticator {
  readonly #options: AuthenticatorOptions;
  readonly #logins: ShortCache<LoginStatus | undefined>;
  readonly #guests: ShortCache<GuestStatus | undefined>;
  readonly #keys: ShortCache<DeviceKeyStatus | undefined>;
  readonly #services: ShortCache<ServiceKeyStatus | undefined>;
  readonly #unsubscribe: () => void;

  constructor(options: AuthenticatorOptions) {
    this.#options = options;
    this.#logins = new ShortCache(options.clock, CACHE_MILLISECONDS, CACHE_CAPACITY);
    this.#guests = new ShortCache(options.clock, CACHE_MILLISECONDS, CACHE_CAPACITY);
    this.#keys = new ShortCache(options.clock, DEVICE_CACHE_MILLISECONDS, DEVICE_CACHE_CAPACITY);
    this.#services = new ShortCache(options.clock, CACHE_MILLISECONDS, CACHE_CAPACITY);
    // Revocations are rare and look-ups cheap, so clearing all caches is simplest.
    this.#unsubscribe = options.revocations.subscribe(() => {
      this.#logins.clear();
      this.#guests.clear();
      this.#keys.clear();
      this.#services.clear();
    });
  }

  stop(): void {
    this.#unsubscribe();
  }

  authenticate(
    headers: Readonly<Record<string, string>>,
    accepted: readonly AcceptedCredential[],
  ): Promise<Principal> {
    if (accepted.includes("compat_key")) return this.#byCompatKey(headers);
    const bearer = bearerOf(headers);
    if (bearer !== undefined && accepted.includes("bearer")) return this.#byToken(bearer);
    const key = headers["x-api-key"];
    if (key !== undefined && accepted.some((each) => each.endsWith("_key"))) {
      return this.#byKey(key, accepted);
    }
    return Promise.reject(new AppError("unauthorized", missing(accepted)));
  }

  async revalidate(principal: Principal): Promise<Principal> {
    if (principal.kind === "user") return this.#user(principal.tokenId, principal.expiresAt);
    if (principal.kind === "guest") return this.#guest(principal.id, principal.expiresAt);
    if (principal.kind === "service") {
      const { secretId } = principal;
      const load = () => this.#options.serviceKeys.statusBySecret(secretId);
      return this.#service(await this.#services.get(secretId, load));
    }
    return this.#device(await this.#options.deviceKeys.statusByKey(principal.keyId), false);
  }

  async #byToken(token: string): Promise<Principal> {
    const claims = await this.#options.tokens.verify(token, ["access", "guest"]);
    if (claims.kind === "guest") return this.#guest(claims.subject, claims.expiresAt);
    return this.#user(claims.scope, claims.expiresAt);
  }

  async #user(loginId: string, expiresAt: number): Promise<UserPrincipal> {
    const status = await this.#logins.get(loginId, () => this.#options.logins.status(loginId));
    this.#refuseEnded(status, expiresAt);
    const { userId: id, role } = status;
    const until = Math.min(expiresAt, status.expiresAt);
    return { kind: "user", id, role, tokenId: loginId, expiresAt: until };
  }

  async #guest(guestId: string, expiresAt: number): Promise<GuestPrincipal> {
    const status = await this.#guests.get(guestId, () => this.#options.guests.status(guestId));
    this.#refuseEnded(status, expiresAt);
    const { sessionId, displayName } = status;
    return {
      kind: "guest",
      id: guestId,
      role: "guest",
      sessionId,
      displayName,
      tokenId: guestId,
      expiresAt: Math.min(expiresAt, status.expiresAt),
    };
  }

  #refuseEnded<T extends { expiresAt: number }>(
    status: T | undefined,
    expiresAt: number,
  ): asserts status is T {
    const now = this.#options.clock.now();
    if (status === undefined || status.expiresAt <= now || expiresAt <= now) {
      throw new AppError("invalid_token", "The sign-in has ended. Please sign in again.");
    }
  }

  /** A service key in the headers that other services' clients send. */
  async #byCompatKey(headers: Readonly<Record<string, string>>): Promise<ServicePrincipal> {
    const key = compatKeyOf(headers);
    if (key === undefined) {
      throw new AppError("unauthorized", missing(["compat_key"]));
    }
    if (!isServiceKey(key)) {
      throw new AppError(
        "invalid_api_key",
        "The API key is not a service key of this installation; is it complete?",
      );
    }
    const principal = await this.#byServiceKey(key);
    if (principal.scopes.includes("transcribe")) return principal;
    throw new AppError("forbidden", "This key lacks the scope transcribe.");
  }

  async #byServiceKey(key: string): Promise<ServicePrincipal> {
    const hash = secretHash(key);
    const load = () => this.#options.serviceKeys.statusByHash(hash);
    return this.#service(await this.#services.get(hash.toString("latin1"), load));
  }

  /** Looks up a key only if its kind is accepted here. */
  async #byKey(key: string, accepted: readonly AcceptedCredential[]): Promise<Principal> {
    const hash = secretHash(key);
    const name = hash.toString("latin1");
    if (accepted.includes("device_key")) {
      const takesEnded = accepted.includes("ended_device_key");
      // A cached name belongs to a key whose form was checked before.
      const known = this.#keys.peek(name);
      if (known !== undefined) return this.#device(await known, takesEnded);
      if (isDeviceKey(key)) {
        const load = () => this.#options.deviceKeys.statusByHash(hash);
        return this.#device(await this.#keys.get(name, load), takesEnded);
      }
    }
    if (accepted.includes("service_key") && isServiceKey(key)) return this.#byServiceKey(key);
    const wanted = accepted.includes("device_key") ? "device" : "service";
    throw new AppError("invalid_api_key", `The X-API-Key is not a ${wanted} key; is it complete?`);
  }

  #device(status: DeviceKeyStatus | undefined, takesEnded: boolean): DevicePrincipal {
    if (status === undefined) throw endedKey();
    const now = this.#options.clock.now();
    const { keyId, deviceId: id, workspaceId, ownerId, expiresAt } = status;
    const endedAt = Math.min(expiresAt, status.endedAt ?? expiresAt);
    const device = { kind: "device", id, keyId, workspaceId, ownerId } as const;
    if (status.endedAt === undefined && now < expiresAt) return { ...device, expiresAt };
    const until = endedAt + BACKLOG_MILLISECONDS;
    if (takesEnded && now < until) return { ...device, expiresAt: until, endedAt };
    throw status.suspended && now < expiresAt ? ownerGone() : endedKey();
  }

  #service(status: ServiceKeyStatus | undefined): ServicePrincipal {
    if (status === undefined || status.expiresAt <= this.#options.clock.now()) {
      throw new AppError("invalid_api_key", "The service key is unknown, expired or revoked.");
    }
    const { keyId: id, secretId, workspaceId, makerId, scopes, expiresAt } = status;
    if (status.suspended || makerId === undefined) {
      throw new AppError(
        "key_suspended",
        `This key is suspended, because whoever made it is no longer an owner of its workspace or has no account. An owner takes it over with POST /api/api-keys/${id}/adopt, or makes another one.`,
      );
    }
    return { kind: "service", id, secretId, workspaceId, makerId, scopes, expiresAt };
  }
}

function endedKey(): AppError {
  return new AppError(
    "invalid_api_key",
    "The device key is unknown, expired or revoked. Get a fresh one from POST /devices/pair/claim-auth.",
  );
}

/** The error for a device whose owner gives it no right, for now. */
export function ownerGone(): AppError {
  return new AppError(
    "key_suspended",
    "This device's owner no longer belongs to its workspace, or their account is disabled. It begins nothing until they are back, or somebody of the workspace pairs it anew. For 24 h it may stop and upload what it had begun.",
  );
}

const ASKED_FOR: Partial<Record<AcceptedCredential, string>> = {
  bearer: "an access token as `Authorization: Bearer …`",
  device_key: "the device's key as `X-API-Key`",
  service_key: "a service key as `X-API-Key`",
  compat_key: "a service key with the scope transcribe as `Authorization: Bearer …` or `Token …`",
};

function missing(accepted: readonly AcceptedCredential[]): string {
  const ways = accepted.flatMap((each) => ASKED_FOR[each] ?? []);
  return `Send ${ways.length === 0 ? "the right credential" : ways.join(", or ")}.`;
}
