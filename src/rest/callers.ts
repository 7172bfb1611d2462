import type {
  DevicePrincipal,
  GuestPrincipal,
  Principal,
  UserPrincipal,
} from "../access/principal.ts";
import { AppError } from "../base/errors.ts";

/** The caller, or 401. */
export function requirePrincipal(principal: Principal | undefined): Principal {
  if (principal === undefined) throw new AppError("unauthorized", "Please sign in.");
  return principal;
}

/** The signed-in user; 401 without a caller, 403 for anyone else. */
export function requireUser(principal: Principal | undefined): UserPrincipal {
  if (principal === undefined) throw new AppError("unauthorized", "Please sign in.");
  if (principal.kind === "user") return principal;
  throw new AppError("forbidden", "This is for signed-in users.");
}

/** A signed-in user or a guest; 401 without a caller, 403 for a device or a service. */
export function requirePerson(principal: Principal | undefined): UserPrincipal | GuestPrincipal {
  if (principal === undefined) throw new AppError("unauthorized", "Please sign in.");
  if (principal.kind === "user" || principal.kind === "guest") return principal;
  throw new AppError("forbidden", "This is for people.");
}

/** The calling device; 401 for everyone else. */
export function requireDevice(principal: Principal | undefined): DevicePrincipal {
  if (principal?.kind === "device") return principal;
  throw new AppError("unauthorized", "Send the device's key as `X-API-Key`.");
}
