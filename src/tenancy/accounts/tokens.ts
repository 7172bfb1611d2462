import {
  type CryptoKey,
  calculateJwkThumbprint,
  decodeProtectedHeader,
  importJWK,
  type JWK,
  jwtVerify,
  SignJWT,
} from "jose";
import { type Clock, systemClock } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import { isId, newId } from "../../base/ids.ts";

/** A signing key with its public half. */
export interface SigningKey {
  kid: string;
  privateKey: CryptoKey;
  publicKey: CryptoKey;
  /** The public key, which /auth/jwks.json lists. */
  publicJwk: JWK;
  /** The key signs from this time on, Unix milliseconds; 0 from the start. */
  signsFrom: number;
}

const HOUR = 3_600_000;
/** No token lives longer than 12 h; the rest allows for clocks that differ. */
const KEPT_AFTER_SUCCESSOR = 13 * HOUR;
/** Unknown key ids trigger a look for new keys at most once in this time, milliseconds. */
const REFRESH_EVERY = 1_000;

/**
 * The Ed25519 keys of this installation, oldest first. The newest key whose time has come signs.
 * All keys verify, future ones too, so that every process knows a key before it signs, and an old
 * key verifies until its last token has expired.
 */
export class KeyRing {
  #keys: readonly SigningKey[] = [];
  readonly #clock: Clock;
  #refresh: (() => Promise<void>) | undefined;
  #refreshing: { done: Promise<void>; at: number } | undefined;

  constructor(keys: readonly SigningKey[], clock: Clock = systemClock) {
    this.#clock = clock;
    this.replace(keys);
  }

  replace(keys: readonly SigningKey[]): void {
    if (keys.length === 0) throw new Error("A key ring needs at least one signing key.");
    this.#keys = [...keys];
  }

  /** Sets the function that reloads the keys when an unknown key id comes. */
  refreshWith(refresh: () => Promise<void>): void {
    this.#refresh = refresh;
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

  /** Like `get`, but first looks for a key that another process has just added. */
  async find(kid: string | undefined): Promise<SigningKey | undefined> {
    const known = this.get(kid);
    if (known !== undefined || kid === undefined || this.#refresh === undefined) return known;
    const now = this.#clock.monotonic();
    if (this.#refreshing === undefined || now - this.#refreshing.at >= REFRESH_EVERY) {
      this.#refreshing = { done: this.#refresh(), at: now };
    }
    await this.#refreshing.done;
    return this.get(kid);
  }

  /** All keys, oldest first. */
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

/**
 * True when a key whose successor signs from `successorFrom` on can have no valid token any more.
 */
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

const ISSUER = "voice-session-service";
const ALGORITHM = "EdDSA";
const MAX_TOKEN = 4_096;
const MOST_VERIFIED = 10_000;
const HEADER_MEMBERS: ReadonlySet<string> = new Set(["alg", "kid", "typ"]);

/**
 * Each kind has its own `typ` and `aud`, so that no token is accepted as another kind (RFC 8725
 * §3.11, §3.9).
 */
const KINDS = {
  access: { typ: "at+jwt", audience: "voice:user" },
  refresh: { typ: "rt+jwt", audience: "voice:refresh" },
  guest: { typ: "gt+jwt", audience: "voice:guest" },
} as const;

type TokenKind = keyof typeof KINDS;

/** A token's claims, after its signature, kind and times have been checked. */
interface TokenClaims {
  kind: TokenKind;
  /** A user's or guest's id. */
  subject: string;
  /** The id of the login, or of a guest's session, that the token belongs to. */
  scope: string;
  /** Unix milliseconds. */
  expiresAt: number;
}

/** The claims of a verified token, and the key that signed it. */
interface Verified {
  claims: TokenClaims;
  kid: string;
}

/**
 * Signs and checks the service's JSON web tokens (Ed25519). Does not check whether the right behind
 * a token still exists.
 */
export class Tokens {
  readonly #ring: KeyRing;
  readonly #clock: Clock;
  /**
   * Tokens that were verified lately: an Ed25519 check costs more than the rest of a small request.
   */
  readonly #verified = new Map<string, Verified>();

  constructor(ring: KeyRing, clock: Clock) {
    this.#ring = ring;
    this.#clock = clock;
  }

  /** @param claims.expiresAt Unix milliseconds; the token carries whole seconds, rounded down */
  async sign(claims: TokenClaims): Promise<string> {
    const { typ, audience } = KINDS[claims.kind];
    const key = this.#ring.newest;
    return await new SignJWT({ sid: claims.scope })
      .setProtectedHeader({ alg: ALGORITHM, typ, kid: key.kid })
      .setIssuer(ISSUER)
      .setAudience(audience)
      .setSubject(claims.subject)
      .setJti(newId(this.#clock.now()))
      .setIssuedAt(Math.floor(this.#clock.now() / 1000))
      .setExpirationTime(Math.floor(claims.expiresAt / 1000))
      .sign(key.privateKey);
  }

  /**
   * Returns the token's claims. Rejects with `invalid_token` when this service did not sign it as
   * one of `kinds`, or it has expired.
   */
  async verify(token: string, kinds: readonly TokenKind[]): Promise<TokenClaims> {
    const known = this.#known(token, kinds);
    if (known !== undefined) return known;
    try {
      return await this.#verify(token, kinds);
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ERR_JWT_EXPIRED") {
        throw new AppError("invalid_token", "The token has expired. Please sign in again.");
      }
      throw new AppError("invalid_token", refusal(token, kinds), { cause: error });
    }
  }

  /**
   * Returns the claims if the same text was verified before and neither the token nor its key has
   * expired.
   */
  #known(token: string, kinds: readonly TokenKind[]): TokenClaims | undefined {
    const known = this.#verified.get(token);
    if (known === undefined || !kinds.includes(known.claims.kind)) return undefined;
    const live =
      known.claims.expiresAt > this.#clock.now() && this.#ring.get(known.kid) !== undefined;
    if (live) return known.claims;
    this.#verified.delete(token);
    return undefined;
  }

  #remember(token: string, verified: Verified): void {
    this.#verified.set(token, verified);
    if (this.#verified.size <= MOST_VERIFIED) return;
    const oldest = this.#verified.keys().next();
    if (oldest.done !== true) this.#verified.delete(oldest.value);
  }

  async #verify(token: string, kinds: readonly TokenKind[]): Promise<TokenClaims> {
    if (!isCanonical(token)) throw new Error("not a compact JWS");
    const header = decodeProtectedHeader(token);
    const odd = Object.keys(header).find((name) => !HEADER_MEMBERS.has(name));
    if (odd !== undefined) throw new Error(`unexpected header member ${odd}`);
    const kind = kinds.find((each) => KINDS[each].typ === header.typ);
    const key = kind && (await this.#ring.find(header.kid));
    if (kind === undefined || key === undefined) throw new Error("unknown kind or key");
    const { payload } = await jwtVerify(token, key.publicKey, {
      algorithms: [ALGORITHM],
      issuer: ISSUER,
      audience: KINDS[kind].audience,
      typ: KINDS[kind].typ,
      requiredClaims: ["exp", "iat", "jti", "sub", "sid"],
      currentDate: new Date(this.#clock.now()),
    });
    const { sub, sid, exp } = payload;
    if (!isIdText(sub) || !isIdText(sid) || exp === undefined) throw new Error("odd claims");
    const claims = { kind, subject: sub, scope: sid, expiresAt: exp * 1000 };
    this.#remember(token, { claims, kid: key.kid });
    return claims;
  }
}

/**
 * Explains a refusal by the token's form alone, which its holder knows, so nothing secret is
 * revealed.
 */
function refusal(token: string, kinds: readonly TokenKind[]): string {
  const typ = isCanonical(token) ? typeOf(token) : undefined;
  if (typ === undefined) return "This is not a token of this service; was it copied whole?";
  const known = Object.values(KINDS).find((each) => each.typ === typ);
  if (known === undefined) return "This token was made by another service.";
  if (kinds.some((each) => KINDS[each].typ === typ)) {
    return "This token was not signed with a key of this installation. Sign in here.";
  }
  return `A ${NAMES[typ] ?? "token"} is not taken here.`;
}

function typeOf(token: string): string | undefined {
  try {
    return decodeProtectedHeader(token).typ ?? "";
  } catch {
    return undefined;
  }
}

const NAMES: Readonly<Record<string, string>> = {
  [KINDS.access.typ]: "user's access token",
  [KINDS.refresh.typ]: "refresh token",
  [KINDS.guest.typ]: "guest's token",
};

function isIdText(value: unknown): value is string {
  return typeof value === "string" && isId(value);
}

/**
 * True for three base64url parts in canonical encoding. Decoders ignore stray last bits, so without
 * this check two different texts could be the same token.
 */
function isCanonical(token: string): boolean {
  const parts = token.length > MAX_TOKEN ? [] : token.split(".");
  return (
    parts.length === 3 &&
    parts.every((part) => part === Buffer.from(part, "base64url").toString("base64url"))
  );
}
