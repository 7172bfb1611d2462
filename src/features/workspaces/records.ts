import type { AuditActor } from "../../access/audit-entry.ts";
import type { Page, PageRequest } from "../../rest/page.ts";

export type WorkspaceRole = "owner" | "member";

export interface WorkspaceRecord {
  id: string;
  name: string;
  workspaceType: "private" | "team";
  preferredLanguage: string;
  /** Days after which the words and audio of a session go; absent: never. */
  retentionDays?: number;
  createdAt: number;
  updatedAt: number;
}

export interface MemberRecord {
  userId: string;
  email: string;
  name: string;
  role: WorkspaceRole;
  createdAt: number;
}

export interface NewWorkspace {
  id: string;
  name: string;
  preferredLanguage: string;
  ownerId: string;
}

/** Port: workspaces and who belongs to them; a deleted one is as if it had never been. */
export interface WorkspaceDirectory {
  insert(workspace: NewWorkspace): Promise<WorkspaceRecord>;
  find(id: string): Promise<WorkspaceRecord | undefined>;
  /** Lists the workspaces that `memberId` belongs to, or all when it is undefined. */
  list(memberId: string | undefined, page: PageRequest): Promise<Page<WorkspaceRecord>>;
  role(workspaceId: string, userId: string): Promise<WorkspaceRole | undefined>;
  members(workspaceId: string, page: PageRequest): Promise<Page<MemberRecord>>;
}

export type MemberChange = "done" | "not_a_member" | "last_owner";

/**
 * Port: changes who belongs to a workspace. The audit entry is part of each
 * step. A workspace keeps at least one owner.
 */
export interface WorkspaceMembers {
  /** Undefined when the user is a member already. */
  add(
    workspaceId: string,
    userId: string,
    role: WorkspaceRole,
    by: AuditActor,
  ): Promise<MemberRecord | undefined>;
  setRole(
    workspaceId: string,
    userId: string,
    role: WorkspaceRole,
    by: AuditActor,
  ): Promise<MemberChange>;
  remove(workspaceId: string, userId: string, by: AuditActor): Promise<MemberChange>;
}
