import type { Principal } from "./principal.ts";

/** What proves a caller at the door; see `Credential` of src/rest/route.ts. */
export type AcceptedCredential =
  | "bearer"
  | "device_key"
  | "service_key"
  | "refresh"
  | "pairing_secret";

/**
 * Turns the credentials of a request into a principal.
 *
 * Only `bearer` (a user's or guest's access token) and `device_key` and
 * `service_key` (an `X-API-Key`) are looked at; `refresh` and `pairing_secret`
 * are bearers of their own kind that their routes check. What was revoked is refused at once
 * where the revocation feed reaches and within 2 s everywhere else.
 */
export interface Authenticator {
  /**
   * Rejects with `unauthorized` (nothing presented that is accepted here),
   * `invalid_token` or `invalid_api_key`, all 401; with `unavailable` when the
   * record of accounts cannot be read.
   *
   * @param headers lower-case names
   */
  authenticate(
    headers: Readonly<Record<string, string>>,
    accepted: readonly AcceptedCredential[],
  ): Promise<Principal>;
  /** The principal again, as it stands now; rejects like `authenticate` when its right has ended. */
  revalidate(principal: Principal): Promise<Principal>;
}
