import type { UserPrincipal } from "../../access/principal.ts";

export interface Account {
  id: string;
  email: string;
  name: string;
  role: UserPrincipal["role"];
  /** Absent when the account has no password of its own. */
  passwordHash?: string | undefined;
  disabled: boolean;
}

/** The accounts, as signing in needs them. */
export interface AccountBook {
  /** E-mail addresses are compared without case. */
  findByEmail(email: string): Promise<Account | undefined>;
  /** Replaces a hash by one of the same password made with today's costs; ends no login. */
  rehashPassword(userId: string, before: string, after: string): Promise<void>;
}
