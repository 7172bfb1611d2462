import { createHmac } from "node:crypto";
import type { AuditActor } from "../../access/audit-entry.ts";
import type { RevocationFeed } from "../../access/revocations.ts";
import { newDeviceKey, randomText, secretHash } from "../../access/secrets.ts";
import type { Clock } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import { newId } from "../../base/ids.ts";
import { networkOf } from "../../wire/network.ts";
import type { AttemptPolicy, AttemptStore } from "../accounts/attempts-store.ts";
import { ownerGone } from "../accounts/credential-authenticator.ts";
import type { NewDevice, NewDeviceKey, PairingState, PairingStore } from "./pairing-store.ts";

/** No vowels, so that no words come out (RFC 8628 §6.1): 8 of 20 letters are 34.6 bits. */
const ALPHABET = "BCDFGHJKLMNPQRSTVWXZ";
const LENGTH = 8;
const OWN_CODE = /^[0-9A-Z]{6,32}$/;

/** Makes a new code, without a dash. */
export function newPairingCode(): string {
  return randomText(LENGTH, ALPHABET);
}

/**
 * Normalises a code for comparison: upper case without dashes and spaces. Undefined when the text
 * can be no code. Codes that devices made themselves have 6 to 32 letters or digits.
 */
export function normalisePairingCode(text: string): string | undefined {
  const code = text.replace(/[\s-]/g, "").toUpperCase();
  return OWN_CODE.test(code) ? code : undefined;
}

/** The code as it is shown to people: XXXX-XXXX. */
export function showPairingCode(code: string): string {
  return code.length === LENGTH ? `${code.slice(0, 4)}-${code.slice(4)}` : code;
}

/**
 * The hash under which a code is stored. All codes of 34 bits could be tried against a plain hash,
 * so the hash is keyed with a pepper that lives outside the database.
 */
export function pairingCodeHash(pepper: Uint8Array, code: string): Buffer {
  return createHmac("sha256", pepper).update(`pairing-code\u0000${code}`).digest();
}

const CODE_LIFETIME = 10 * 60_000;
const DAY = 24 * 3_600_000;
const KEY_LIFETIME = 30 * DAY;
/** Time that the previous key stays valid, so that a lost answer does not lock the device out. */
const KEY_OVERLAP = DAY;
const SECRET_LENGTH = 43;
const SECRET_FORM = /^[0-9A-Za-z]{43}$/;
/** Seconds between two polls of a waiting device (RFC 8628 §3.5). */
export const POLL_INTERVAL = 5;

/** Allows one poll each interval, with half a second of tolerance for clocks and networks. */
const POLLS: AttemptPolicy = { burst: 1, interval: POLL_INTERVAL * 1000 - 500 };
/**
 * Limits on wrong codes: ten per account, then one a minute; thirty per address, then three a
 * minute.
 */
const GUESSES_BY_ACCOUNT: AttemptPolicy = { burst: 10, interval: 60_000 };
const GUESSES_BY_ADDRESS: AttemptPolicy = { burst: 30, interval: 20_000 };
const RENEWALS: AttemptPolicy = { burst: 20, interval: 60_000 };
const CODES_BY_ADDRESS: AttemptPolicy = { burst: 600, interval: 1_000 };
const FRESH_CODE_TRIES = 5;
const TOO_MANY_GUESSES = "Too many wrong pairing codes.";

interface PairingOptions {
  store: PairingStore;
  attempts: AttemptStore;
  revocations: RevocationFeed;
  pepper: Uint8Array;
  clock: Clock;
}

interface DeviceDescription {
  serial: string;
  name?: string;
  model?: string;
  firmware?: string;
}

interface PublishedCode {
  deviceId: string;
  /** The code as it is shown to people. */
  code: string;
  pairingSecret: string;
  expiresAt: number;
}

export interface IssuedKey {
  deviceId: string;
  /** The key's text, which is shown only this once. */
  apiKey: string;
  expiresAt: number;
}

export interface CodeApproval {
  code: string;
  workspaceId: string;
  ownerId: string;
  name?: string;
  /** The caller's address. */
  address: string;
}

type PairingStatus = "pending" | "paired" | "expired" | "revoked";

/**
 * Pairs devices as in the device authorisation grant (RFC 8628): the device holds a long secret and
 * shows a short code; a signed-in user types the code; the secret then fetches the key. A code is
 * pending until it is approved, expires after 10 min, and is used once. The secret can fetch fresh
 * keys until the device is unpaired.
 */
export class Pairing {
  readonly #options: PairingOptions;

  constructor(options: PairingOptions) {
    this.#options = options;
  }

  /**
   * Publishes a code. Rejects with `code_in_use` when the device brought a code that is already
   * live.
   */
  async publish(
    description: DeviceDescription,
    ownCode: string | undefined,
    address: string,
  ): Promise<PublishedCode> {
    await this.#spend(
      `codes\u0000${networkOf(address).network}`,
      CODES_BY_ADDRESS,
      "Too many pairing codes.",
    );
    if (ownCode !== undefined) {
      const code = normalisePairingCode(ownCode);
      if (code === undefined) {
        throw new AppError("invalid_body", "`code` must have 6 to 32 letters or digits.");
      }
      const published = await this.#publish(description, code);
      if (published !== undefined) return published;
      throw new AppError("code_in_use", "This pairing code is in use. Please make another.");
    }
    for (let attempt = 0; attempt < FRESH_CODE_TRIES; attempt += 1) {
      const published = await this.#publish(description, newPairingCode());
      if (published !== undefined) return published;
    }
    throw new AppError("unavailable", "No free pairing code was found. Please try again.");
  }

  /** Pairs the device that shows `code`. Rejects with `not_found`, `conflict` or `rate_limited`. */
  async approve(approval: CodeApproval): Promise<string> {
    return this.#approve(approval, undefined);
  }

  /** Pairs the device and issues its key in one transaction. */
  async approveWithKey(approval: CodeApproval): Promise<IssuedKey> {
    const { key, apiKey } = this.#newKey({ kind: "user", id: approval.ownerId });
    const deviceId = await this.#approve(approval, key);
    return { deviceId, apiKey, expiresAt: key.expiresAt };
  }

  async statusById(deviceId: string): Promise<PairingStatus> {
    const state = await this.#options.store.stateById(deviceId);
    if (state === undefined) throw new AppError("not_found", "There is no device with this id.");
    return this.#status(state);
  }

  async statusByCode(code: string, address: string): Promise<PairingStatus> {
    const guesses = await this.#guess(address);
    const normal = normalisePairingCode(code);
    const state =
      normal === undefined
        ? undefined
        : await this.#options.store.stateByCode(pairingCodeHash(this.#options.pepper, normal));
    if (state === undefined) throw unknownCode();
    await guesses.wasRight();
    return this.#status(state);
  }

  /**
   * Issues a key to the device that holds `pairingSecret`. Rejects with `invalid_token`, with
   * `key_suspended` while the device's owner gives it no right, with `not_paired` until a user has typed the code, or with `slow_down` when the device polls too
   * often meanwhile.
   */
  async claim(pairingSecret: string): Promise<IssuedKey> {
    const state = SECRET_FORM.test(pairingSecret)
      ? await this.#options.store.stateBySecret(secretHash(pairingSecret))
      : undefined;
    if (state === undefined || state.status === "revoked") throw wrongSecret();
    if (state.status === "pairing") throw await this.#notPaired(state);
    if (!state.ownerIsActive) throw ownerGone();
    return this.renew(state.deviceId);
  }

  /** Issues a fresh key to a paired device; the keys before it stay valid for 24 h at most. */
  async renew(
    deviceId: string,
    by: AuditActor = { kind: "device", id: deviceId },
  ): Promise<IssuedKey> {
    await this.#spend(`renew\u0000${deviceId}`, RENEWALS, "Too many fresh keys.");
    const { key, apiKey } = this.#newKey(by);
    if (!(await this.#options.store.addKey(deviceId, key, this.#options.clock.now()))) {
      throw wrongSecret();
    }
    return { deviceId, apiKey, expiresAt: key.expiresAt };
  }

  /** Adds a virtual device, which is paired from the start. */
  async addVirtual(
    description: DeviceDescription,
    pairing: { workspaceId: string; ownerId: string },
  ): Promise<IssuedKey> {
    const { key, apiKey } = this.#newKey({ kind: "user", id: pairing.ownerId });
    // The secret is not kept: a virtual device renews with its key.
    const device = this.#newDevice(description, randomText(SECRET_LENGTH));
    await this.#options.store.addPaired(device, pairing, key);
    return { deviceId: device.id, apiKey, expiresAt: key.expiresAt };
  }

  /** Ends every key of the device at once. */
  async unpair(deviceId: string, by: AuditActor): Promise<void> {
    await this.#options.store.unpair(deviceId, by);
    this.#options.revocations.publish({ kind: "device", deviceId });
  }

  async #publish(description: DeviceDescription, code: string): Promise<PublishedCode | undefined> {
    const { store, clock, pepper } = this.#options;
    const now = clock.now();
    const pairingSecret = randomText(SECRET_LENGTH);
    const device = this.#newDevice(description, pairingSecret);
    const codeHash = pairingCodeHash(pepper, code);
    const expiresAt = now + CODE_LIFETIME;
    if (!(await store.publish(device, { codeHash, deviceId: device.id, expiresAt }, now))) {
      return undefined;
    }
    return { deviceId: device.id, code: showPairingCode(code), pairingSecret, expiresAt };
  }

  async #approve(approval: CodeApproval, key: NewDeviceKey | undefined): Promise<string> {
    const account = `guess\u0000${approval.ownerId}`;
    await this.#spend(account, GUESSES_BY_ACCOUNT, TOO_MANY_GUESSES);
    const guesses = await this.#guess(approval.address);
    const { workspaceId, ownerId, name } = approval;
    const code = normalisePairingCode(approval.code);
    const outcome =
      code === undefined
        ? ({ kind: "unknown_code" } as const)
        : await this.#options.store.approve({
            codeHash: pairingCodeHash(this.#options.pepper, code),
            workspaceId,
            ownerId,
            name,
            key,
            now: this.#options.clock.now(),
          });
    if (outcome.kind === "unknown_code") throw unknownCode();
    await guesses.wasRight();
    if (outcome.kind === "used_code") {
      throw new AppError("conflict", "This pairing code has been used already.");
    }
    await this.#options.attempts.restore(account);
    return outcome.deviceId;
  }

  #status(state: PairingState): PairingStatus {
    if (state.status !== "pairing") return state.status;
    return this.#isLive(state) ? "pending" : "expired";
  }

  #isLive(state: PairingState): boolean {
    return (state.codeExpiresAt ?? 0) > this.#options.clock.now();
  }

  async #notPaired(state: PairingState): Promise<AppError> {
    const wait = await this.#options.attempts.take(`poll\u0000${state.deviceId}`, POLLS);
    if (wait !== undefined) {
      return new AppError("slow_down", `Please ask every ${POLL_INTERVAL} s.`, {
        retryAfter: POLL_INTERVAL,
      });
    }
    return this.#isLive(state)
      ? new AppError("not_paired", "Nobody has entered this device's pairing code yet.")
      : new AppError("not_paired", "The pairing code has expired. Publish a new one.");
  }

  /** Counts a guess against the address before it is answered; `wasRight` takes it back. */
  async #guess(address: string): Promise<{ wasRight(): Promise<void> }> {
    const key = `guess-from\u0000${networkOf(address).network}`;
    await this.#spend(key, GUESSES_BY_ADDRESS, TOO_MANY_GUESSES);
    return { wasRight: () => this.#options.attempts.refund(key, GUESSES_BY_ADDRESS) };
  }

  async #spend(key: string, policy: AttemptPolicy, what: string): Promise<void> {
    const wait = await this.#options.attempts.take(key, policy);
    if (wait === undefined) return;
    throw new AppError("rate_limited", `${what} Please wait ${wait} s.`, { retryAfter: wait });
  }

  #newDevice(description: DeviceDescription, pairingSecret: string): NewDevice {
    return {
      id: newId(this.#options.clock.now()),
      serial: description.serial,
      name: description.name ?? "",
      model: description.model ?? "",
      firmware: description.firmware ?? "",
      pairingSecretHash: secretHash(pairingSecret),
    };
  }

  #newKey(issuedBy: AuditActor): { key: NewDeviceKey; apiKey: string } {
    const apiKey = newDeviceKey();
    const now = this.#options.clock.now();
    const key = {
      id: newId(now),
      keyHash: secretHash(apiKey),
      expiresAt: now + KEY_LIFETIME,
      othersExpireAt: now + KEY_OVERLAP,
      issuedBy,
    };
    return { key, apiKey };
  }
}

function unknownCode(): AppError {
  return new AppError("not_found", "This pairing code is unknown or has expired.");
}

function wrongSecret(): AppError {
  return new AppError(
    "invalid_token",
    "The pairing secret is unknown, or the device was unpaired.",
  );
}
