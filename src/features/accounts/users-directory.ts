import type { AuditEntry } from "../../access/audit-trail.ts";
import type { UserPrincipal } from "../../access/principal.ts";
import type { Page, PageRequest } from "../../rest/page.ts";

export interface UserRecord {
  id: string;
  email: string;
  name: string;
  role: UserPrincipal["role"];
  disabledAt?: number | undefined;
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

/** An audit entry that is given is written together with what it records, and only then. */
export interface UserDirectory {
  /** False, and nothing recorded, when the e-mail address is taken. */
  insert(user: NewUser, entry?: AuditEntry): Promise<boolean>;
  find(id: string): Promise<UserRecord | undefined>;
  findByEmail(email: string): Promise<UserRecord | undefined>;
  list(filter: UserFilter, page: PageRequest): Promise<Page<UserRecord>>;
  /** Ends all logins on a change. Returns what happened. */
  setDisabled(
    id: string,
    disabled: boolean,
    entry?: AuditEntry,
  ): Promise<"changed" | "unchanged" | "unknown">;
  rename(id: string, name: string): Promise<void>;
  /** Nothing is changed when nobody could administer the service any more. */
  setRole(
    id: string,
    role: UserRecord["role"],
    entry: AuditEntry,
  ): Promise<"changed" | "unchanged" | "unknown" | "last_admin">;
}
