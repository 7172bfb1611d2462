import { decodeProtectedHeader, jwtVerify, SignJWT } from "jose";
import type { Clock } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import { isId, newId } from "../../base/ids.ts";
import type { KeyRing } from "./key-ring.ts";

const ISSUER = "voice-session-service";
const ALGORITHM = "EdDSA";
const MAX_TOKEN = 4_096;
const MOST_VERIFIED = 10_000;
const HEADER_MEMBERS: ReadonlySet<string> = new Set(["alg", "kid", "typ"]);

/** Each kind has its own `typ` and `aud`, so that none passes another's door (RFC 8725 §3.11, §3.9). */
const KINDS = {
  access: { typ: "at+jwt", audience: "voice:user" },
  refresh: { typ: "rt+jwt", audience: "voice:refresh" },
  guest: { typ: "gt+jwt", audience: "voice:guest" },
} as const;

type TokenKind = keyof typeof KINDS;

/** What a token says once its signature, kind and times have been checked. */
interface TokenClaims {
  kind: TokenKind;
  /** A user's or guest's id. */
  subject: string;
  /** The login, or for a guest the session, that the token belongs to. */
  scope: string;
  /** Unix milliseconds. */
  expiresAt: number;
}

/** A token whose signature and claims were found right, and by which key. */
interface Verified {
  claims: TokenClaims;
  kid: string;
}

/** Signs and checks the service's JSON web tokens (Ed25519). Whether a right still stands is not asked here. */
export class Tokens {
  readonly #ring: KeyRing;
  readonly #clock: Clock;
  /** What was verified lately: an Ed25519 check costs more than the rest of a small request. */
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

  /** Rejects with `invalid_token` what this service did not sign as one of `kinds`, or what has run out. */
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

  /** The same text was found right before, and neither its time nor that of its key has run out. */
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

/** Told by the form alone, which its holder knows: nothing of ours is given away. */
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
 * True for three base64url parts in their one spelling: decoders overlook
 * stray last bits, and then two different texts would be the same token.
 */
function isCanonical(token: string): boolean {
  const parts = token.length > MAX_TOKEN ? [] : token.split(".");
  return (
    parts.length === 3 &&
    parts.every((part) => part === Buffer.from(part, "base64url").toString("base64url"))
  );
}
