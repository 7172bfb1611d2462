import { type CryptoKey, calculateJwkThumbprint, importJWK, type JWK } from "jose";
import { type Clock, systemClock } from "../../base/clock.ts";

/** A signing key with its public half. */
export interface SigningKey {
  kid: string;
  privateKey: CryptoKey;
  publicKey: CryptoKey;
  /** What the key set at /auth/jwks.json shows. */
  publicJwk: JWK;
  /** It signs from here on, Unix milliseconds; 0 when from the start. */
  signsFrom: number;
}

const HOUR = 3_600_000;
/** No token lives longer than 12 h; the rest is for clocks that differ. */
const KEPT_AFTER_SUCCESSOR = 13 * HOUR;
/** Whoever sends tokens of unknown keys makes us look for new ones once in this time. */
const LOOK_EVERY = 1_000;

/**
 * The Ed25519 keys of this installation, oldest first. The newest whose time
 * has come signs. All verify, those to come too, so that a key is known
 * everywhere before it signs, and an old one until its last token has run out.
 */
export class KeyRing {
  #keys: readonly SigningKey[] = [];
  readonly #clock: Clock;
  #look: (() => Promise<void>) | undefined;
  #looking: { done: Promise<void>; at: number } | undefined;

  constructor(keys: readonly SigningKey[], clock: Clock = systemClock) {
    this.#clock = clock;
    this.replace(keys);
  }

  replace(keys: readonly SigningKey[]): void {
    if (keys.length === 0) throw new Error("A key ring needs at least one signing key.");
    this.#keys = [...keys];
  }

  /** `look` replaces the keys when there are others by now. */
  lookWith(look: () => Promise<void>): void {
    this.#look = look;
  }

  get newest(): SigningKey {
    const now = this.#clock.now();
    const found = this.#keys.findLast((key) => key.signsFrom <= now) ?? this.#keys[0];
    if (found === undefined) throw new Error("The key ring is empty.");
    return found;
  }

  get(kid: string | undefined): SigningKey | undefined {
    return this.#live().find((key) => key.kid === kid);
  }

  /** Like `get`, but a key that another process has just added is looked for first. */
  async find(kid: string | undefined): Promise<SigningKey | undefined> {
    const known = this.get(kid);
    if (known !== undefined || kid === undefined || this.#look === undefined) return known;
    const now = this.#clock.monotonic();
    if (this.#looking === undefined || now - this.#looking.at >= LOOK_EVERY) {
      this.#looking = { done: this.#look(), at: now };
    }
    await this.#looking.done;
    return this.get(kid);
  }

  /** Oldest first. */
  get keys(): readonly SigningKey[] {
    return this.#keys;
  }

  get publicJwks(): JWK[] {
    return this.#live().map((key) => key.publicJwk);
  }

  #live(): SigningKey[] {
    const now = this.#clock.now();
    return this.#keys.filter((_key, index) => !isRetired(this.#keys[index + 1]?.signsFrom, now));
  }
}

/** True when the key before one that signs from `successorFrom` on can have no valid token any more. */
export function isRetired(successorFrom: number | undefined, now: number): boolean {
  return (
    successorFrom !== undefined && successorFrom > 0 && successorFrom + KEPT_AFTER_SUCCESSOR <= now
  );
}

/**
 * A private Ed25519 JWK as a signing key; its `kid` is its RFC 7638 thumbprint.
 * With `nbf` (Unix seconds) it signs from then on.
 */
export async function importSigningKey(jwk: JWK): Promise<SigningKey> {
  if (jwk.kty !== "OKP" || jwk.crv !== "Ed25519" || typeof jwk.d !== "string") {
    throw new Error("A signing key must be a private Ed25519 JWK (kty OKP, crv Ed25519, with d).");
  }
  const { kty, crv, x } = jwk;
  const kid = await calculateJwkThumbprint({ kty, crv, x });
  const privateKey = await importJWK({ kty, crv, x, d: jwk.d }, "EdDSA");
  const publicKey = await importJWK({ kty, crv, x }, "EdDSA");
  if (privateKey instanceof Uint8Array || publicKey instanceof Uint8Array) {
    throw new Error("A signing key must be asymmetric.");
  }
  const publicJwk = { kty, crv, x, kid, alg: "EdDSA", use: "sig" };
  const { nbf } = jwk as { nbf?: unknown };
  const signsFrom = typeof nbf === "number" ? nbf * 1_000 : 0;
  return { kid, privateKey, publicKey, publicJwk, signsFrom };
}
