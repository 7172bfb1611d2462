import type { Principal } from "./principal.ts";

/** Credentials that the authenticator accepts; see `Credential` of src/rest/route.ts. */
export type AcceptedCredential =
  | "bearer"
  | "device_key"
  | "service_key"
  | "refresh"
  | "pairing_secret";

/**
 * Turns the credentials of a request into a principal.
 *
 * It checks only `bearer` (a user's or guest's access token), `device_key` and `service_key` (an
 * `X-API-Key`); `refresh` and `pairing_secret` are bearers that their routes check. A revoked
 * credential is refused at once where the revocation feed reaches, and within 2 s everywhere else.
 */
export interface Authenticator {
  /**
   * Returns the caller. Rejects with `unauthorized` (no accepted credential was presented),
   * `invalid_token` or `invalid_api_key`, all 401; with `unavailable` when the accounts cannot be
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
