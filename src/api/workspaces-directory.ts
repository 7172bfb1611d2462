import type { Page, PageRequest } from "./page.ts";

export type WorkspaceRole = "owner" | "member";

export interface WorkspaceRecord {
  id: string;
  name: string;
  workspaceType: "private" | "team";
  preferredLanguage: string;
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

export interface WorkspaceDirectory {
  insert(workspace: NewWorkspace): Promise<WorkspaceRecord>;
  find(id: string): Promise<WorkspaceRecord | undefined>;
  /** Of `memberId`, or of all when undefined. */
  list(memberId: string | undefined, page: PageRequest): Promise<Page<WorkspaceRecord>>;
  role(workspaceId: string, userId: string): Promise<WorkspaceRole | undefined>;
  members(workspaceId: string, page: PageRequest): Promise<Page<MemberRecord>>;
  /** Undefined when the user is a member already. */
  addMember(
    workspaceId: string,
    userId: string,
    role: WorkspaceRole,
  ): Promise<MemberRecord | undefined>;
  removeMember(
    workspaceId: string,
    userId: string,
  ): Promise<"removed" | "not_a_member" | "last_owner">;
}
