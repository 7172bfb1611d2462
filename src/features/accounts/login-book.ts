import type { UserPrincipal } from "../../access/principal.ts";

export interface LoginStanding {
  loginId: string;
  userId: string;
  email: string;
  name: string;
  role: UserPrincipal["role"];
  /** Unix milliseconds. */
  expiresAt: number;
  /** False after the password was changed from within this login. */
  refreshable: boolean;
}

export interface NewLogin {
  id: string;
  userId: string;
  /** The hash that the password was checked against; undefined when another proof was given. */
  passwordHash: string | undefined;
  expiresAt: number;
}

/** The logins on record: one row per sign-in, shared by its access and refresh tokens. */
export interface LoginBook {
  /** False, and nothing recorded, when the account was disabled or its password changed meanwhile. */
  open(login: NewLogin): Promise<boolean>;
  /** Undefined when the login was revoked, or its user disabled, removed, or given a new password since. */
  standing(loginId: string): Promise<LoginStanding | undefined>;
  revoke(loginId: string): Promise<void>;
}
