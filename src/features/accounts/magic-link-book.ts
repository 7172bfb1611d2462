import type { Account } from "./account-book.ts";

/** The links on record, by the hash of their token. */
export interface MagicLinkBook {
  put(link: { tokenHash: Uint8Array; userId: string; expiresAt: number }): Promise<void>;
  /**
   * The account that the link is for, at most once, and then no other link of
   * the account works. Undefined when unknown, used, expired at `now`, or when
   * the account was disabled or its logins were ended since.
   */
  take(tokenHash: Uint8Array, now: number): Promise<Account | undefined>;
}
