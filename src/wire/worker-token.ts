import { createHmac, hkdfSync } from "node:crypto";
import { Metadata } from "@grpc/grpc-js";
import { base64url, decodeJwt, jwtVerify } from "jose";
import { AppError } from "../base/errors.ts";

const ALGORITHM = "HS256";
const ISSUER = "voice main";
const TYPE = "voice-worker+jwt";
const LIFE_S = 120;
/** A token is used for this time; then the next one is made. Milliseconds. */
const USED_MS = 60_000;
const HEADER = "authorization";
/** Most addresses whose token is remembered. */
const MAX_REMEMBERED = 1_000;

/** Both ends make it of WORKER_KEY, which itself never leaves a process. */
function signingKey(workerKey: string): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", workerKey, "", "voice worker calls", 32));
}

/** Each token is for the worker at one address, and of no use at any other. */
function audienceOf(address: string): string {
  return `voice worker ${address}`;
}

/**
 * A JSON Web Token signed with HMAC-SHA256 (RFC 7515, 7519), made at once: a call of grpc-js that
 * waits for its metadata never ends when it is cancelled or its deadline passes meanwhile.
 */
function signed(payload: Readonly<Record<string, string | number>>, key: Uint8Array): string {
  const parts = [{ alg: ALGORITHM, typ: TYPE }, payload];
  const text = parts.map((part) => base64url.encode(JSON.stringify(part))).join(".");
  return `${text}.${createHmac("sha256", key).update(text).digest("base64url")}`;
}

/** Makes the tokens that calls of workers carry. */
export class WorkerTokens {
  readonly #key: Uint8Array;
  readonly #now: () => number;
  readonly #tokens = new Map<string, { token: string; madeAt: number }>();

  /** @param now Unix milliseconds, by the clock that all main processes share */
  constructor(workerKey: string, now: () => number) {
    this.#key = signingKey(workerKey);
    this.#now = now;
  }

  /** A fresh enough token for the worker at this address. */
  for(address: string): string {
    const now = this.#now();
    const known = this.#tokens.get(address);
    if (known !== undefined && Math.abs(now - known.madeAt) < USED_MS) return known.token;
    if (this.#tokens.size >= MAX_REMEMBERED) this.#tokens.clear();
    const seconds = Math.floor(now / 1_000);
    const times = { iat: seconds, exp: seconds + LIFE_S };
    const token = signed({ iss: ISSUER, aud: audienceOf(address), ...times }, this.#key);
    this.#tokens.set(address, { token, madeAt: now });
    return token;
  }

  /** What a call to the worker at this address says of its caller. */
  metadata(address: string): Metadata {
    const metadata = new Metadata();
    metadata.set(HEADER, `Bearer ${this.for(address)}`);
    return metadata;
  }
}

/**
 * Checks the tokens that a worker is shown. A worker's own clock may be wrong, so it goes by the
 * newest token too: one is too old when it ended before that was made, and is old by its clock.
 */
export class WorkerTokenCheck {
  readonly #key: Uint8Array;
  readonly #address: string;
  /** What the main processes' clock is ahead of our monotonic one, milliseconds. */
  #ahead = Number.NEGATIVE_INFINITY;

  /** @param address at which others reach this worker */
  constructor(workerKey: string, address: string) {
    this.#key = signingKey(workerKey);
    this.#address = address;
  }

  /** Rejects with `unauthorized` unless the call carries a token for this worker. */
  async check(metadata: Metadata): Promise<void> {
    const [, token] = /^Bearer (.+)$/.exec(metadata.get(HEADER)[0]?.toString() ?? "") ?? [];
    try {
      const { iat = 0 } = decodeJwt(token ?? "");
      const madeAt = iat * 1_000;
      const ahead = Math.max(this.#ahead, madeAt - performance.now());
      // Fresh by this machine's clock is enough, so that no clock alone can shut everybody out.
      const isFresh = Math.abs(Date.now() - madeAt) <= LIFE_S * 1_000;
      await jwtVerify(token ?? "", this.#key, {
        algorithms: [ALGORITHM],
        typ: TYPE,
        issuer: ISSUER,
        audience: audienceOf(this.#address),
        requiredClaims: ["iat", "exp"],
        currentDate: new Date(isFresh ? madeAt : performance.now() + ahead),
      });
      this.#ahead = Math.max(this.#ahead, ahead);
    } catch (cause) {
      throw new AppError(
        "unauthorized",
        "This worker wants a fresh token made with its key (WORKER_KEY).",
        { cause },
      );
    }
  }
}
