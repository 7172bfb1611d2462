import { type CryptoKey, calculateJwkThumbprint, importJWK, type JWK } from "jose";

/** A signing key with its public half. */
export interface SigningKey {
  kid: string;
  privateKey: CryptoKey;
  publicKey: CryptoKey;
  /** What the key set at /auth/jwks.json shows. */
  publicJwk: JWK;
}

/**
 * The Ed25519 keys of this installation, oldest first. The newest signs, all
 * verify, so that a new key can be added before old tokens have run out.
 */
export class KeyRing {
  readonly #keys: ReadonlyMap<string, SigningKey>;
  readonly newest: SigningKey;

  constructor(keys: readonly SigningKey[]) {
    const newest = keys.at(-1);
    if (newest === undefined) throw new Error("A key ring needs at least one signing key.");
    this.newest = newest;
    this.#keys = new Map(keys.map((key) => [key.kid, key]));
  }

  get(kid: string | undefined): SigningKey | undefined {
    return kid === undefined ? undefined : this.#keys.get(kid);
  }

  get publicJwks(): JWK[] {
    return [...this.#keys.values()].map((key) => key.publicJwk);
  }
}

/** A private Ed25519 JWK as a signing key; its `kid` is its RFC 7638 thumbprint. */
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
  return { kid, privateKey, publicKey, publicJwk };
}
