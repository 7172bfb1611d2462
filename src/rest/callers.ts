import type {
  DevicePrincipal,
  GuestPrincipal,
  Principal,
  UserPrincipal,
} from "../access/principal.ts";
import { AppError } from "../base/errors.ts";

/** Returns the caller, or throws 401. */
export function requirePrincipal(principal: Principal | undefined): Principal {
  if (principal === undefined) throw new AppError("unauthorized", "Please sign in.");
  return principal;
}

/** Returns the signed-in user; throws 401 without a caller, 403 for any other kind. */
export function requireUser(principal: Principal | undefined): UserPrincipal {
  if (principal === undefined) throw new AppError("unauthorized", "Please sign in.");
  if (principal.kind === "user") return principal;
  throw new AppError("forbidden", "This is for signed-in users.");
}

/**
 * Returns the signed-in user or guest; throws 401 without a caller, 403 for a device or a service.
 */
export function requirePerson(principal: Principal | undefined): UserPrincipal | GuestPrincipal {
  if (principal === undefined) throw new AppError("unauthorized", "Please sign in.");
  if (principal.kind === "user" || principal.kind === "guest") return principal;
  throw new AppError("forbidden", "This is for people.");
}

/** Returns the calling device; throws 401 for everyone else. */
export function requireDevice(principal: Principal | undefined): DevicePrincipal {
  if (principal?.kind === "device") return principal;
  throw new AppError("unauthorized", "Send the device's key as `X-API-Key`.");
}
