import type { Account } from "./account-book.ts";

export interface OAuthRequest {
  stateHash: Uint8Array;
  /** The hash of the secret that only the browser knows. */
  browserHash: Uint8Array;
  provider: string;
  /** Where the browser goes in the end. */
  redirect: string | undefined;
  expiresAt: number;
}

/** Requests that are with a provider, and who the providers' users are here. */
export interface OAuthBook {
  put(request: OAuthRequest): Promise<void>;
  /**
   * The request, at most once; undefined when unknown, used, of another
   * provider or browser, or expired at `now`.
   */
  take(
    request: Pick<OAuthRequest, "stateHash" | "browserHash" | "provider">,
    now: number,
  ): Promise<{ redirect: string | undefined } | undefined>;
  /** The account that this provider's user is known to be. */
  findLinked(provider: string, subject: string): Promise<Account | undefined>;
  /** Remembers who somebody is, with an audit entry. */
  link(provider: string, subject: string, userId: string): Promise<void>;
  /**
   * A new account without a password, linked, with audit entries; undefined
   * when the address was taken meanwhile.
   */
  createLinked(
    provider: string,
    subject: string,
    user: { id: string; email: string; name: string },
  ): Promise<Account | undefined>;
}
