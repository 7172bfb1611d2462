import type { Authenticator } from "../../access/authenticator.ts";
import type { Principal } from "../../access/principal.ts";
import { AppError, isAppError } from "../../base/errors.ts";
import type { Credential, Route } from "../../rest/route.ts";
import type { Headers } from "./incoming.ts";

/** True when the request carries an `Authorization: Bearer` at all. */
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
  if (known.length === route.auth.length) return authenticator.authenticate(headers, known);
  const keys = known.filter(isKey);
  if (headers["x-api-key"] !== undefined && keys.length > 0) {
    return authenticator.authenticate(headers, keys);
  }
  if (!hasBearer(headers)) {
    throw new AppError("unauthorized", "This needs a bearer token in the Authorization header.");
  }
  return known.includes("bearer") ? tryBearer(headers, authenticator) : undefined;
}

function isKnownHere(credential: Credential): boolean {
  return credential === "bearer" || isKey(credential);
}

function isKey(credential: Credential): boolean {
  return credential === "device_key" || credential === "service_key";
}

/** The bearer may be of the route's own kind, so that a 401 here is not the last word. */
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
