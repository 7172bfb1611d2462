import { type CommonQueryMethods, type DatabasePool, sql } from "slonik";
import { z } from "zod";
import { insertAuditEntry } from "../../access/audit-entries-store.ts";
import type { AuditEntry } from "../../access/audit-entry.ts";
import { allOf, toPage } from "../../postgres/columns.ts";
import { optionalColumn } from "../../postgres/optional-column.ts";
import type { Page, PageRequest } from "../../rest/page.ts";
import type { OtherTables } from "../context.ts";

/** A person's relation to a session, besides what sharing with the workspace gives; a guest has no address. */
export interface SessionMemberRecord {
  userId: string;
  email?: string;
  name: string;
  relation: "owner" | "participant" | "shared" | "guest";
  /** Unix milliseconds. */
  createdAt: number;
}

interface NewSessionMember {
  sessionId: string;
  userId: string;
  relation: "participant" | "shared";
}

const nothing = z.object({}).strict();
const relationColumn = z.enum(["owner", "participant", "shared", "guest"]);

const memberRow = z.object({
  userId: z.string(),
  email: optionalColumn(z.string()),
  name: z.string(),
  relation: relationColumn,
  createdAt: z.number(),
});

/** Members of sessions in PostgreSQL. Every method throws `unavailable` when storage is away. */
export class SessionMemberStore {
  readonly #pool: DatabasePool;
  readonly #others: Pick<OtherTables, "removeGuest">;

  constructor(pool: DatabasePool, others: Pick<OtherTables, "removeGuest">) {
    this.#pool = pool;
    this.#others = others;
  }

  /** Lists the members, the owner and the guests who have access included. */
  async list(sessionId: string, page: PageRequest): Promise<Page<SessionMemberRecord>> {
    const conditions = [sql.fragment`true`];
    if (page.after !== undefined) conditions.push(sql.fragment`id < ${page.after}::uuid`);
    const rows = await this.#pool.any(sql.type(memberRow)`
      select id as "userId", email, name, relation, created_at as "createdAt"
      from (
        select u.id, u.email, u.name, m.relation, m.created_at
        from (
          select owner_id as user_id, 'owner' as relation, created_at
          from sessions where id = ${sessionId}
          union all
          select user_id, relation, created_at
          from session_members where session_id = ${sessionId}
        ) as m join users u on u.id = m.user_id
        union all
        select id, null, display_name, 'guest', created_at
        from guests
        where session_id = ${sessionId} and revoked_at is null and expires_at > now()
      ) as people
      where ${allOf(conditions)}
      order by id desc limit ${page.limit + 1}`);
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

  isGuest(sessionId: string, id: string): Promise<boolean> {
    return this.#pool.exists(sql.type(nothing)`
      select from guests where id = ${id} and session_id = ${sessionId}`);
  }

  /**
   * Removes a member or guest and writes the audit entry in one transaction; false when there is
   * none with this id.
   */
  remove(sessionId: string, id: string, isGuest: boolean, audit: AuditEntry): Promise<boolean> {
    return this.#pool.transaction(async (tx) => {
      const isThere = isGuest
        ? await this.#others.removeGuest(tx, { sessionId, id })
        : await removeMember(tx, sessionId, id);
      if (!isThere) return false;
      await insertAuditEntry(tx, audit);
      return true;
    });
  }
}

/** Takes an account that is erased out of the sessions of others. */
export async function leaveSessions(tx: CommonQueryMethods, userId: string): Promise<void> {
  await tx.query(sql.unsafe`delete from session_members where user_id = ${userId}`);
}

/** For whoever deletes a session. */
export async function dropMembers(tx: CommonQueryMethods, { id }: { id: string }): Promise<void> {
  await tx.query(sql.unsafe`delete from session_members where session_id = ${id}`);
}

/** Makes somebody a member of a session; false when they belong to it. */
export async function joinSession(
  tx: CommonQueryMethods,
  { sessionId, userId, relation }: { sessionId: string; userId: string; relation: string },
): Promise<boolean> {
  const { rowCount } = await tx.query(sql.unsafe`
    insert into session_members (session_id, user_id, relation)
    select ${sessionId}::uuid, ${userId}::uuid, ${relation}::text
    where not exists (select from sessions where id = ${sessionId} and owner_id = ${userId})
    on conflict do nothing`);
  return rowCount > 0;
}

async function removeMember(
  tx: CommonQueryMethods,
  sessionId: string,
  userId: string,
): Promise<boolean> {
  const { rowCount } = await tx.query(sql.unsafe`
    delete from session_members where session_id = ${sessionId} and user_id = ${userId}`);
  return rowCount > 0;
}
