import { type CommonQueryMethods, type DatabasePool, sql } from "slonik";
import { z } from "zod";
import { insertAuditEntry } from "../../access/audit-entries-store.ts";
import type { AuditEntry } from "../../access/audit-entry.ts";
import { AppError } from "../../base/errors.ts";
import { allOf, toInstant, toPage } from "../../postgres/columns.ts";
import { optionalColumn } from "../../postgres/optional-column.ts";
import type { Page, PageRequest } from "../../rest/page.ts";

/** A guest code as whoever manages it sees it, without the code. Times are Unix milliseconds. */
export interface GuestCodeRecord {
  id: string;
  /** How many guests came by it. */
  uses: number;
  maxUses?: number;
  expiresAt?: number;
  createdById: string;
  createdAt: number;
}

interface NewGuestCode {
  id: string;
  sessionId: string;
  hash: Uint8Array;
  maxUses: number | undefined;
  expiresAt: number | undefined;
  createdBy: { kind: "user" | "service"; id: string };
}

const codeRow = z.object({
  id: z.string(),
  uses: z.number(),
  maxUses: optionalColumn(z.number()),
  expiresAt: optionalColumn(z.number()),
  createdById: z.string(),
  createdAt: z.number(),
});
const nothing = z.object({}).strict();

const CODE_COLUMNS = sql.fragment`id, uses, max_uses as "maxUses", expires_at as "expiresAt",
  created_by_id as "createdById", created_at as "createdAt"`;

/** Guest codes in PostgreSQL. Every change writes its audit entry in the same transaction. */
export class GuestCodeStore {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  /**
   * Undefined when the session has `most` codes already that were not taken back. Throws
   * `session_deleted` when it was deleted meanwhile.
   */
  issue(code: NewGuestCode, most: number, audit: AuditEntry): Promise<GuestCodeRecord | undefined> {
    const { id, sessionId, hash, maxUses, expiresAt, createdBy } = code;
    return this.#pool.transaction(async (tx) => {
      await holdSession(tx, sessionId);
      const expires = expiresAt === undefined ? sql.fragment`null` : toInstant(expiresAt);
      const made = await tx.maybeOne(sql.type(codeRow)`
        insert into guest_codes
          (id, session_id, code_hash, max_uses, expires_at, created_by_kind, created_by_id)
        select ${id}::uuid, ${sessionId}::uuid, ${sql.binary(Buffer.from(hash))},
          ${maxUses ?? null}::integer, ${expires}::timestamptz, ${createdBy.kind}::text,
          ${createdBy.id}::uuid
        where ${most} > (
          select count(*) from guest_codes
          where session_id = ${sessionId} and revoked_at is null)
        returning ${CODE_COLUMNS}`);
      if (made === null) return undefined;
      await insertAuditEntry(tx, audit);
      return made;
    });
  }

  /** The session's codes that were not taken back, newest first. */
  async list(sessionId: string, page: PageRequest): Promise<Page<GuestCodeRecord>> {
    const conditions = [sql.fragment`session_id = ${sessionId} and revoked_at is null`];
    if (page.after !== undefined) conditions.push(sql.fragment`id < ${page.after}::uuid`);
    const rows = await this.#pool.any(sql.type(codeRow)`
      select ${CODE_COLUMNS} from guest_codes
      where ${allOf(conditions)} order by id desc limit ${page.limit + 1}`);
    return toPage(rows, page.limit, (code) => code.id);
  }

  /** Ends a code and the guests who came by it; false when the session has no such code. */
  revoke(sessionId: string, codeId: string, audit: AuditEntry): Promise<boolean> {
    return this.#pool.transaction(async (tx) => {
      const { rowCount } = await tx.query(sql.unsafe`
        update guest_codes set revoked_at = now()
        where id = ${codeId} and session_id = ${sessionId} and revoked_at is null`);
      if (rowCount === 0) return false;
      await tx.query(sql.unsafe`
        update guests
        set revoked_at = coalesce(revoked_at, now()), removed_at = coalesce(removed_at, now())
        where code_id = ${codeId}`);
      await insertAuditEntry(tx, audit);
      return true;
    });
  }
}

/** Codes of one session are made one after the other. */
async function holdSession(tx: CommonQueryMethods, sessionId: string): Promise<void> {
  const held = await tx.maybeOne(sql.type(nothing)`
    select from sessions where id = ${sessionId} and status <> 'deleted' for no key update`);
  if (held === null) throw new AppError("session_deleted", "This session was deleted.");
}
