import { type DatabasePool, sql } from "slonik";
import { z } from "zod";
import { allOf, toPage } from "../../postgres/keyset.ts";
import { optionalColumn } from "../../postgres/optional-column.ts";
import type { Page, PageRequest } from "../../rest/page.ts";
import type {
  MemberRecord,
  NewWorkspace,
  WorkspaceDirectory,
  WorkspaceRecord,
  WorkspaceRole,
} from "./workspaces-directory.ts";

const roleColumn = z.enum(["owner", "member"]);

export const workspaceRow = z.object({
  id: z.string(),
  name: z.string(),
  workspaceType: z.enum(["private", "team"]),
  preferredLanguage: z.string(),
  retentionDays: optionalColumn(z.number()),
  createdAt: z.number(),
  updatedAt: z.number(),
});

export const memberRow = z.object({
  userId: z.string(),
  email: z.string(),
  name: z.string(),
  role: roleColumn,
  createdAt: z.number(),
});

export const WORKSPACE_COLUMNS = sql.fragment`id, name, workspace_type as "workspaceType",
  preferred_language as "preferredLanguage", retention_days as "retentionDays",
  created_at as "createdAt", updated_at as "updatedAt"`;
export const MEMBER_COLUMNS = sql.fragment`
  user_id as "userId", email, users.name, member.role, member.created_at as "createdAt"`;

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
      return row;
    });
  }

  async find(id: string): Promise<WorkspaceRecord | undefined> {
    const row = await this.#pool.maybeOne(
      sql.type(workspaceRow)`select ${WORKSPACE_COLUMNS} from workspaces
        where id = ${id} and deleted_at is null`,
    );
    return row ?? undefined;
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
    return toPage(rows, page.limit, (workspace) => workspace.id);
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
    return toPage(rows, page.limit, (member) => member.userId);
  }
}
