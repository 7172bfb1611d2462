import type { UserPrincipal } from "../auth/principal.ts";
import type { Page, PageRequest } from "./page.ts";

export interface UserRecord {
  id: string;
  email: string;
  name: string;
  role: UserPrincipal["role"];
  disabledAt: number | undefined;
  createdAt: number;
  updatedAt: number;
}

export interface NewUser {
  id: string;
  email: string;
  name: string;
  role: UserPrincipal["role"];
  passwordHash: string;
}

export interface UserFilter {
  workspaceId?: string;
  role?: UserPrincipal["role"];
  disabled?: boolean;
  /** Part of the name or e-mail address, without case. */
  search?: string;
}

export interface UserDirectory {
  /** False, and nothing recorded, when the e-mail address is taken. */
  insert(user: NewUser): Promise<boolean>;
  find(id: string): Promise<UserRecord | undefined>;
  findByEmail(email: string): Promise<UserRecord | undefined>;
  list(filter: UserFilter, page: PageRequest): Promise<Page<UserRecord>>;
  /** Ends all logins on a change. Returns what happened. */
  setDisabled(id: string, disabled: boolean): Promise<"changed" | "unchanged" | "unknown">;
}
