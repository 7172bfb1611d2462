import { type DatabasePool, sql } from "slonik";
import { z } from "zod";
import type { Page, PageRequest } from "../api/page.ts";
import type {
  MemberRecord,
  NewWorkspace,
  WorkspaceDirectory,
  WorkspaceRecord,
  WorkspaceRole,
} from "../api/workspaces-directory.ts";
import { allOf, toPage } from "./keyset.ts";
import { optionalColumn } from "./optional-column.ts";

const roleColumn = z.enum(["owner", "member"]);

export const workspaceRow = z.object({
  id: z.string(),
  name: z.string(),
  workspace_type: z.enum(["private", "team"]),
  preferred_language: z.string(),
  retention_days: optionalColumn(z.number()),
  created_at: z.number(),
  updated_at: z.number(),
});

export const memberRow = z.object({
  user_id: z.string(),
  email: z.string(),
  name: z.string(),
  role: roleColumn,
  created_at: z.number(),
});

export const WORKSPACE_COLUMNS = sql.fragment`id, name, workspace_type, preferred_language,
  retention_days, created_at, updated_at`;
export const MEMBER_COLUMNS = sql.fragment`
  user_id, email, users.name, member.role, member.created_at`;

export function toWorkspace(row: z.output<typeof workspaceRow>): WorkspaceRecord {
  return {
    id: row.id,
    name: row.name,
    workspaceType: row.workspace_type,
    preferredLanguage: row.preferred_language,
    retentionDays: row.retention_days,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

export function toMember(row: z.infer<typeof memberRow>): MemberRecord {
  const { user_id: userId, email, name, role, created_at: createdAt } = row;
  return { userId, email, name, role, createdAt };
}

export class WorkspaceStore implements WorkspaceDirectory {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  insert(workspace: NewWorkspace): Promise<WorkspaceRecord> {
    return this.#pool.transaction(async (transaction) => {
      const row = await transaction.one(sql.type(workspaceRow)`
        insert into workspaces (id, name, preferred_language)
        values (${workspace.id}, ${workspace.name}, ${workspace.preferredLanguage})
        returning ${WORKSPACE_COLUMNS}`);
      await transaction.query(sql.unsafe`
        insert into workspace_members (workspace_id, user_id, role)
        values (${workspace.id}, ${workspace.ownerId}, 'owner')`);
      return toWorkspace(row);
    });
  }

  async find(id: string): Promise<WorkspaceRecord | undefined> {
    const row = await this.#pool.maybeOne(
      sql.type(workspaceRow)`select ${WORKSPACE_COLUMNS} from workspaces
        where id = ${id} and deleted_at is null`,
    );
    return row === null ? undefined : toWorkspace(row);
  }

  async list(memberId: string | undefined, page: PageRequest): Promise<Page<WorkspaceRecord>> {
    const conditions = [sql.fragment`deleted_at is null`];
    if (page.after !== undefined) conditions.push(sql.fragment`id < ${page.after}::uuid`);
    if (memberId !== undefined) {
      conditions.push(sql.fragment`id in (
        select workspace_id from workspace_members where user_id = ${memberId})`);
    }
    const rows = await this.#pool.any(sql.type(workspaceRow)`
      select ${WORKSPACE_COLUMNS} from workspaces where ${allOf(conditions)}
      order by id desc limit ${page.limit + 1}`);
    return toPage(rows.map(toWorkspace), page.limit, (workspace) => workspace.id);
  }

  async role(workspaceId: string, userId: string): Promise<WorkspaceRole | undefined> {
    const row = await this.#pool.maybeOne(sql.type(z.object({ role: roleColumn }))`
      select role from workspace_members
      where workspace_id = ${workspaceId} and user_id = ${userId}`);
    return row?.role;
  }

  async members(workspaceId: string, page: PageRequest): Promise<Page<MemberRecord>> {
    const conditions = [sql.fragment`workspace_id = ${workspaceId}`];
    if (page.after !== undefined) conditions.push(sql.fragment`user_id < ${page.after}::uuid`);
    const rows = await this.#pool.any(sql.type(memberRow)`
      select ${MEMBER_COLUMNS}
      from workspace_members as member join users on users.id = user_id
      where ${allOf(conditions)}
      order by user_id desc limit ${page.limit + 1}`);
    return toPage(rows.map(toMember), page.limit, (member) => member.userId);
  }
}
