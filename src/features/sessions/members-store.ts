import { type DatabasePool, sql } from "slonik";
import { z } from "zod";
import { insertAuditEntry } from "../../access/audit-entries-store.ts";
import type { AuditEntry } from "../../access/audit-entry.ts";
import { allOf, toPage } from "../../postgres/columns.ts";
import type { Page, PageRequest } from "../../rest/page.ts";

/** A person's relation to a session, besides what sharing with the workspace gives. */
export interface SessionMemberRecord {
  userId: string;
  email: string;
  name: string;
  relation: "owner" | "participant" | "shared";
  /** Unix milliseconds. */
  createdAt: number;
}

interface NewSessionMember {
  sessionId: string;
  userId: string;
  relation: "participant" | "shared";
}

const relationColumn = z.enum(["owner", "participant", "shared"]);

const memberRow = z.object({
  userId: z.string(),
  email: z.string(),
  name: z.string(),
  relation: relationColumn,
  createdAt: z.number(),
});

/** Members of sessions in PostgreSQL. Every method throws `unavailable` when storage is away. */
export class SessionMemberStore {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  /** Lists the members, the owner included. */
  async list(sessionId: string, page: PageRequest): Promise<Page<SessionMemberRecord>> {
    const conditions = [sql.fragment`true`];
    if (page.after !== undefined) conditions.push(sql.fragment`u.id < ${page.after}::uuid`);
    const rows = await this.#pool.any(sql.type(memberRow)`
      select u.id as "userId", u.email, u.name, m.relation, m.created_at as "createdAt"
      from (
        select owner_id as user_id, 'owner' as relation, created_at
        from sessions where id = ${sessionId}
        union all
        select user_id, relation, created_at
        from session_members where session_id = ${sessionId}
      ) as m join users u on u.id = m.user_id
      where ${allOf(conditions)}
      order by u.id desc limit ${page.limit + 1}`);
    return toPage(rows, page.limit, (member) => member.userId);
  }

  /**
   * Adds a member and the audit entry in one transaction. `already` is the user's existing
   * relation, which may be that of the owner.
   */
  add(
    { sessionId, userId, relation }: NewSessionMember,
    audit: AuditEntry,
  ): Promise<{ member: SessionMemberRecord } | { already: SessionMemberRecord["relation"] }> {
    return this.#pool.transaction(async (tx) => {
      const member = await tx.maybeOne(sql.type(memberRow)`
        with member as (
          insert into session_members (session_id, user_id, relation)
          select ${sessionId}::uuid, ${userId}::uuid, ${relation}::text
          where not exists (
            select from sessions where id = ${sessionId} and owner_id = ${userId})
          on conflict do nothing
          returning *)
        select u.id as "userId", u.email, u.name, m.relation, m.created_at as "createdAt"
        from member m join users u on u.id = m.user_id`);
      if (member !== null) {
        await insertAuditEntry(tx, audit);
        return { member };
      }
      const tie = await tx.maybeOneFirst(sql.type(z.object({ relation: relationColumn }))`
        select relation from session_members
        where session_id = ${sessionId} and user_id = ${userId}`);
      return { already: tie ?? "owner" };
    });
  }

  /**
   * Removes a member and writes the audit entry in one transaction; false when the user is no
   * member.
   */
  remove(sessionId: string, userId: string, audit: AuditEntry): Promise<boolean> {
    return this.#pool.transaction(async (tx) => {
      const { rowCount } = await tx.query(sql.unsafe`
        delete from session_members
        where session_id = ${sessionId} and user_id = ${userId}`);
      if (rowCount === 0) return false;
      await insertAuditEntry(tx, audit);
      return true;
    });
  }
}
