import { type DatabasePool, sql } from "slonik";
import { z } from "zod";
import { insertAuditEntry } from "../../access/audit-entries-store.ts";
import type { AuditEntry, AuditTrail } from "../../access/audit-trail.ts";
import { toInstant } from "../../postgres/instant.ts";
import { allOf, toPage } from "../../postgres/keyset.ts";
import { optionalColumn } from "../../postgres/optional-column.ts";
import type { Page, PageRequest } from "../../rest/page.ts";
import { AuditChain } from "./audit-chain.ts";
import type {
  AuditDirectory,
  AuditFilter,
  AuditHead,
  AuditRecord,
  AuditVerdict,
} from "./audit-directory.ts";

const VERIFY_PAGE = 2_000;

const entryRow = z.object({
  seq: z.number(),
  id: z.string(),
  at: z.number(),
  kind: z.string(),
  actorKind: z.enum(["user", "guest", "device", "service", "system"]),
  actorId: optionalColumn(z.string()),
  workspaceId: optionalColumn(z.string()),
  sessionId: optionalColumn(z.string()),
  subjectId: optionalColumn(z.string()),
  detail: z.record(z.unknown()),
  hash: z.string(),
  previousHash: z.string(),
});

const chainRow = z.object({
  seq: z.number(),
  text: z.string(),
  hash: z.string(),
  previousHash: z.string(),
});

const protectionRow = z.object({ protected: z.boolean() });

/** The audit log in PostgreSQL. */
export class PostgresAudit implements AuditTrail, AuditDirectory {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  /** Once for each `id`, however often it is told and by how many processes. */
  recordOnce(id: string, entry: AuditEntry): Promise<void> {
    return insertAuditEntry(this.#pool, entry, id);
  }

  record(entry: AuditEntry): Promise<void> {
    return insertAuditEntry(this.#pool, entry);
  }

  async list(filter: AuditFilter, page: PageRequest): Promise<Page<AuditRecord>> {
    const rows = await this.#pool.any(sql.type(entryRow)`
      select seq, id, at, kind, actor_kind as "actorKind", actor_id as "actorId",
        workspace_id as "workspaceId", session_id as "sessionId", subject_id as "subjectId",
        detail, encode(hash, 'hex') as hash, encode(previous_hash, 'hex') as "previousHash"
      from audit_log where ${allOf(conditions(filter, page.after))}
      order by seq desc limit ${page.limit + 1}`);
    return toPage(rows.map(toRecord), page.limit, (record) => String(record.seq));
  }

  async verify(known?: AuditHead): Promise<AuditVerdict> {
    const chain = new AuditChain(known);
    for (let after = 0; ; ) {
      const rows = await this.#pool.any(sql.type(chainRow)`
        select a.seq, audit_text(a) as text, encode(a.hash, 'hex') as hash,
          encode(a.previous_hash, 'hex') as "previousHash"
        from audit_log a where a.seq > ${after} order by a.seq limit ${VERIFY_PAGE}`);
      for (const row of rows) chain.add(row);
      after = rows.at(-1)?.seq ?? after;
      if (rows.length < VERIFY_PAGE || chain.broken) break;
    }
    return { ...chain.verdict(), protected: await this.isProtected() };
  }

  /** True when the role of this pool can neither change nor delete entries. */
  async isProtected(): Promise<boolean> {
    const row = await this.#pool.one(sql.type(protectionRow)`
      select not (
        has_table_privilege('audit_log', 'update')
        or has_table_privilege('audit_log', 'delete')
        or has_table_privilege('audit_log', 'truncate')
        or exists (select from pg_class c
          where c.oid = 'audit_log'::regclass and pg_has_role(c.relowner, 'member'))
      ) as protected`);
    return row.protected;
  }
}

function conditions(filter: AuditFilter, after: string | undefined) {
  const all = [sql.fragment`true`];
  if (after !== undefined) all.push(sql.fragment`seq < ${Number(after)}`);
  if (filter.kind !== undefined) all.push(sql.fragment`kind = ${filter.kind}`);
  if (filter.actorId !== undefined) all.push(sql.fragment`actor_id = ${filter.actorId}`);
  if (filter.sessionId !== undefined) all.push(sql.fragment`session_id = ${filter.sessionId}`);
  if (filter.workspaceId !== undefined) {
    all.push(sql.fragment`workspace_id = ${filter.workspaceId}`);
  }
  if (filter.subjectId !== undefined) all.push(sql.fragment`subject_id = ${filter.subjectId}`);
  if (filter.from !== undefined) all.push(sql.fragment`at >= ${toInstant(filter.from)}`);
  if (filter.to !== undefined) all.push(sql.fragment`at < ${toInstant(filter.to)}`);
  return all;
}

function toRecord({ actorKind, actorId, ...row }: z.output<typeof entryRow>): AuditRecord {
  return { ...row, actor: { kind: actorKind, id: actorId } };
}
