import type { Authenticator } from "../../access/authenticator.ts";
import type { Principal } from "../../access/principal.ts";
import { AppError, isAppError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { Credential, Route } from "../../rest/route.ts";
import type { Headers } from "./request.ts";

const ALLOWED_HEADERS = [
  "Authorization",
  "Content-Type",
  "Idempotency-Key",
  "If-Match",
  "If-None-Match",
  "MCP-Protocol-Version",
  "Range",
  "Tus-Resumable",
  "Upload-Checksum",
  "Upload-Length",
  "Upload-Metadata",
  "Upload-Offset",
  "X-API-Key",
  "X-Chunk-Sequence",
  "X-Request-Id",
].join(", ");

const EXPOSED_HEADERS = [
  "Accept-Ranges",
  "Allow",
  "Content-Disposition",
  "Content-Range",
  "ETag",
  "Idempotency-Replayed",
  "Location",
  "RateLimit-Limit",
  "RateLimit-Remaining",
  "RateLimit-Reset",
  "Retry-After",
  "Tus-Resumable",
  "Upload-Expires",
  "Upload-Length",
  "Upload-Offset",
  "Warning",
  "X-API-Version",
  "X-Error-Code",
  "X-Request-Id",
].join(", ");

/** Headers on which the answer to a preflight depends. */
const PREFLIGHT_VARY = "Origin, Access-Control-Request-Method, Access-Control-Request-Headers";
/** Most refused origins that are logged; the number is limited because callers can send any. */
const NAMED_ORIGINS = 100;
const SHOWN_LENGTH = 200;

/** The other origins from which browsers may call; none by default. */
export class Origins {
  readonly #allowed: ReadonlySet<string>;
  readonly #log: Log | undefined;
  readonly #named = new Set<string>();

  constructor(allowed: readonly string[], log?: Log) {
    this.#allowed = new Set(allowed.map((origin) => origin.toLowerCase()));
    this.#log = log;
  }

  /** True when browsers of any other origin may call. */
  get any(): boolean {
    return this.#allowed.size > 0;
  }

  /** CORS headers for an answer to this origin; empty when the origin is not allowed. */
  headers(headers: Headers): Record<string, string> {
    if (this.#allowed.size === 0) return {};
    const origin = headers.origin;
    if (origin === undefined || !this.#allowed.has(origin.toLowerCase())) return { Vary: "Origin" };
    return {
      Vary: "Origin",
      "Access-Control-Allow-Origin": origin,
      "Access-Control-Expose-Headers": EXPOSED_HEADERS,
    };
  }

  /**
   * CORS headers for the preflight of an allowed origin. Browsers tell developers only that nothing
   * was allowed, so the log says once for each other origin what to do.
   */
  preflight(headers: Headers, allow: readonly string[]): Record<string, string> {
    if (headers["access-control-request-method"] === undefined) return this.headers(headers);
    const base: Record<string, string> = { ...this.headers(headers), Vary: PREFLIGHT_VARY };
    if (base["Access-Control-Allow-Origin"] === undefined) {
      this.#nameRefused(headers.origin ?? "");
      return base;
    }
    return {
      ...base,
      "Access-Control-Allow-Methods": allow.join(", "),
      "Access-Control-Allow-Headers": ALLOWED_HEADERS,
      "Access-Control-Max-Age": "600",
    };
  }

  #nameRefused(given: string): void {
    const origin = given.slice(0, SHOWN_LENGTH);
    if (origin === "" || this.#named.size >= NAMED_ORIGINS || this.#named.has(origin)) return;
    this.#named.add(origin);
    const advice =
      "a browser's page of this origin may not call: add the origin to ALLOWED_ORIGINS";
    this.#log?.warn({ origin }, advice);
  }

  /** True when a page of this origin may open a live socket here. Programs send no Origin. */
  mayConnect(headers: Headers): boolean {
    const origin = headers.origin?.toLowerCase();
    if (origin === undefined) return true;
    if (this.#allowed.has(origin)) return true;
    const host = headers.host?.toLowerCase();
    return host !== undefined && (origin === `http://${host}` || origin === `https://${host}`);
  }
}

/** True when the request has an `Authorization: Bearer` header. */
function hasBearer(headers: Headers): boolean {
  return /^bearer +\S/i.test(headers.authorization ?? "");
}

/**
 * The caller of a route, or undefined when the route needs none or checks a
 * bearer of its own kind (refresh token, pairing secret) itself. Throws 401.
 */
export async function authenticateRoute(
  route: Route,
  headers: Headers,
  authenticator: Authenticator,
): Promise<Principal | undefined> {
  if (route.auth.length === 0) return undefined;
  const known = route.auth.filter(isKnownHere);
  if (known.length === route.auth.length) {
    const ended = route.endedDevices === true ? (["ended_device_key"] as const) : [];
    return authenticator.authenticate(headers, [...known, ...ended]);
  }
  const keys = known.filter(isKey);
  if (headers["x-api-key"] !== undefined && keys.length > 0) {
    return authenticator.authenticate(headers, keys);
  }
  // Whether it is a good one, or there at all among the cookies, the route says.
  const takesCookie = route.auth.some((each) => each.endsWith("_cookie"));
  const mayBeCookie = takesCookie && headers.cookie !== undefined;
  if (!hasBearer(headers) && !mayBeCookie) {
    throw new AppError("unauthorized", "This needs a bearer token in the Authorization header.");
  }
  return known.includes("bearer") ? tryBearer(headers, authenticator) : undefined;
}

function isKnownHere(credential: Credential): boolean {
  return credential === "bearer" || isKey(credential);
}

function isKey(credential: Credential): boolean {
  return credential === "device_key" || credential === "service_key" || credential === "compat_key";
}

/**
 * Tries the bearer as an access token. A 401 is ignored, because the bearer may be of a kind that
 * the route checks itself.
 */
async function tryBearer(
  headers: Headers,
  authenticator: Authenticator,
): Promise<Principal | undefined> {
  try {
    return await authenticator.authenticate(headers, ["bearer"]);
  } catch (error) {
    if (isAppError(error) && error.status === 401) return undefined;
    throw error;
  }
}

/** Throws 403 when the caller's role alone forbids the route. */
export function checkRole(route: Route, principal: Principal | undefined): void {
  if (route.roles === undefined || principal === undefined || !("role" in principal)) return;
  if (route.roles.includes(principal.role)) return;
  throw new AppError("forbidden", `Your role, ${principal.role}, does not allow this.`);
}
