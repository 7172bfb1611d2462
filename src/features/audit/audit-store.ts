import { createHash } from "node:crypto";
import { type DatabasePool, sql } from "slonik";
import { z } from "zod";
import { insertAuditEntry } from "../../access/audit-entries-store.ts";
import type { AuditActor, AuditEntry, AuditKind, AuditTrail } from "../../access/audit-entry.ts";
import { allOf, optionalColumn, toInstant, toPage } from "../../postgres/columns.ts";
import type { Page, PageRequest } from "../../rest/page.ts";

/** An entry of the audit log as stored. */
export interface AuditRecord {
  seq: number;
  id: string;
  /** Unix milliseconds. */
  at: number;
  kind: string;
  actor: AuditActor;
  workspaceId?: string;
  sessionId?: string;
  subjectId?: string;
  detail: Readonly<Record<string, unknown>>;
  /** SHA-256 in hex over the entry and the hash before it. */
  hash: string;
  previousHash: string;
}

interface AuditFilter {
  kind?: AuditKind | undefined;
  actorId?: string | undefined;
  sessionId?: string | undefined;
  workspaceId?: string | undefined;
  subjectId?: string | undefined;
  /** Unix milliseconds. */
  from?: number | undefined;
  to?: number | undefined;
}

export interface AuditHead {
  seq: number;
  hash: string;
}

interface AuditVerdict {
  valid: boolean;
  entries: number;
  /** The newest entry. Kept elsewhere, it reveals later that the log was cut short. */
  head: AuditHead | undefined;
  /** The first entry that does not fit into the chain. */
  brokenSeq?: number | undefined;
  problem?: string | undefined;
  /** True when the serving database role can neither change nor delete entries. */
  protected: boolean;
}

const FIRST = "00".repeat(32);

/** An entry with the text that was hashed. */
interface ChainEntry {
  seq: number;
  text: string;
  hash: string;
  previousHash: string;
}

/**
 * Checks a log entry by entry: numbers without gaps, each bound to the hash before it, each hash
 * right. The chain itself does not show that its end was cut off, so a head that was kept elsewhere
 * can be given.
 */
class AuditChain {
  readonly #known: AuditHead | undefined;
  #head: AuditHead | undefined;
  #problem: string | undefined;
  #brokenSeq: number | undefined;
  #knownSeen = false;
  #entries = 0;

  constructor(known?: AuditHead) {
    this.#known = known;
  }

  get broken(): boolean {
    return this.#problem !== undefined;
  }

  add(entry: ChainEntry): void {
    if (this.broken) return;
    const expected = (this.#head?.seq ?? 0) + 1;
    const problem = this.#problemOf(entry, expected);
    if (problem !== undefined) {
      this.#problem = problem;
      this.#brokenSeq = Math.min(entry.seq, expected);
      return;
    }
    if (entry.seq === this.#known?.seq && entry.hash === this.#known.hash) this.#knownSeen = true;
    this.#head = { seq: entry.seq, hash: entry.hash };
    this.#entries += 1;
  }

  #problemOf(entry: ChainEntry, expected: number): string | undefined {
    if (entry.seq !== expected) return `Entry ${expected} is missing.`;
    if (entry.previousHash !== (this.#head?.hash ?? FIRST)) {
      return `Entry ${entry.seq} does not follow from the one before it.`;
    }
    const hash = createHash("sha256").update(entry.text).digest("hex");
    return hash === entry.hash ? undefined : `Entry ${entry.seq} was changed.`;
  }

  verdict(): Omit<AuditVerdict, "protected"> {
    const lost =
      !this.broken && this.#known !== undefined && !this.#knownSeen
        ? `Entry ${this.#known.seq} is not there, or not with this hash.`
        : undefined;
    const problem = this.#problem ?? lost;
    return {
      valid: problem === undefined,
      entries: this.#entries,
      head: this.#head,
      brokenSeq: this.#brokenSeq ?? (lost === undefined ? undefined : this.#known?.seq),
      problem,
    };
  }
}

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

/** The audit log in PostgreSQL. Every method throws `unavailable` when storage is away. */
export class AuditStore implements AuditTrail {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  /**
   * Records the entry once for each `id`, however often and by however many processes it is called.
   */
  recordOnce(id: string, entry: AuditEntry): Promise<void> {
    return insertAuditEntry(this.#pool, entry, id);
  }

  record(entry: AuditEntry): Promise<void> {
    return insertAuditEntry(this.#pool, entry);
  }

  /** Lists entries, newest first. */
  async list(filter: AuditFilter, page: PageRequest): Promise<Page<AuditRecord>> {
    const rows = await this.#pool.any(sql.type(entryRow)`
      select seq, id, at, kind, actor_kind as "actorKind", actor_id as "actorId",
        workspace_id as "workspaceId", session_id as "sessionId", subject_id as "subjectId",
        detail, encode(hash, 'hex') as hash, encode(previous_hash, 'hex') as "previousHash"
      from audit_log where ${allOf(conditions(filter, page.after))}
      order by seq desc limit ${page.limit + 1}`);
    return toPage(rows.map(toRecord), page.limit, (record) => String(record.seq));
  }

  /** Computes every hash again; with `known`, also checks that this entry is still there. */
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
