import type { AppError } from "../base/errors.ts";
import type { Principal } from "./principal.ts";

/** Credentials that the authenticator accepts; see `Credential` of src/rest/route.ts. */
export type AcceptedCredential =
  | "bearer"
  | "device_key"
  /** A device's key of which the right ended less than 24 h ago. */
  | "ended_device_key"
  | "service_key"
  /** A service key of the scope `transcribe` in the headers that other services' clients send. */
  | "compat_key"
  | "refresh"
  | "refresh_cookie"
  | "guest_cookie"
  | "pairing_secret";

/** True for an error with which all rights of a caller end, and not those to one thing. */
export function endsCaller({ status, code }: AppError): boolean {
  return status === 401 || code === "key_suspended";
}

/**
 * Turns the credentials of a request into a principal.
 *
 * It checks only `bearer` (a user's or guest's access token), `device_key` and `service_key` (an
 * `X-API-Key`); `refresh`, `pairing_secret` and the cookies their routes check. A revoked
 * credential is refused at once where the revocation feed reaches, and within 2 s everywhere else.
 */
export interface Authenticator {
  /**
   * Returns the caller. Rejects with `unauthorized` (no accepted credential was presented),
   * `invalid_token` or `invalid_api_key`, all 401; with `key_suspended` (403) while the people
   * whose rights the key has have none; with `unavailable` when the accounts cannot be
   * read.
   *
   * @param headers by lower-case name
   */
  authenticate(
    headers: Readonly<Record<string, string>>,
    accepted: readonly AcceptedCredential[],
  ): Promise<Principal>;
  /**
   * Returns the principal with its present rights. Rejects like `authenticate` when its right has
   * ended.
   */
  revalidate(principal: Principal): Promise<Principal>;
}
