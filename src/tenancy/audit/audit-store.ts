import { createHash } from "node:crypto";
import { type DatabasePool, sql } from "slonik";
import { z } from "zod";
import { insertAuditEntry } from "../../access/audit-entries-store.ts";
import type { AuditActor, AuditEntry, AuditKind } from "../../access/audit-entry.ts";
import { allOf, toInstant, toPage } from "../../postgres/columns.ts";
import { optionalColumn } from "../../postgres/optional-column.ts";
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
  /** Addresses whose digests the detail holds, as far as they are still known. */
  addresses: string[];
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

/** The part of the log that is verified in one go. */
interface VerifiedSpan {
  /** An entry that is known to be right, after which the span begins; the log's begin when absent. */
  from?: AuditHead | undefined;
  /** How many entries at most. */
  limit?: number | undefined;
}

interface AuditVerdict {
  valid: boolean;
  /** How many entries of this span are right. */
  entries: number;
  /** The newest entry that was seen. Kept elsewhere, it reveals later that the log was cut short. */
  head: AuditHead | undefined;
  /** From where the next span begins; undefined when the log ends here, or is broken. */
  next?: AuditHead | undefined;
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
  readonly #from: AuditHead | undefined;
  #head: AuditHead | undefined;
  #problem: string | undefined;
  #brokenSeq: number | undefined;
  #knownSeen = false;
  #entries = 0;

  constructor(known: AuditHead | undefined, from: AuditHead | undefined) {
    this.#known = known;
    this.#from = from;
    // An entry before this span was judged with a span before it.
    this.#knownSeen = known !== undefined && from !== undefined && known.seq < from.seq;
  }

  get entries(): number {
    return this.#entries;
  }

  get broken(): boolean {
    return this.#problem !== undefined;
  }

  add(entry: ChainEntry): void {
    if (this.broken) return;
    const expected = this.#head === undefined ? (this.#from?.seq ?? 1) : this.#head.seq + 1;
    const problem = this.#problemOf(entry, expected);
    if (problem !== undefined) {
      this.#problem = problem;
      this.#brokenSeq = Math.min(entry.seq, expected);
      return;
    }
    if (entry.seq === this.#known?.seq && entry.hash === this.#known.hash) this.#knownSeen = true;
    this.#head = { seq: entry.seq, hash: entry.hash };
    if (entry.seq !== this.#from?.seq) this.#entries += 1;
  }

  #problemOf(entry: ChainEntry, expected: number): string | undefined {
    if (entry.seq !== expected) return `Entry ${expected} is missing.`;
    const isFrom = entry.seq === this.#from?.seq;
    if (isFrom && entry.hash !== this.#from?.hash) {
      return `Entry ${entry.seq} is not there with the hash that was given.`;
    }
    if (!isFrom && entry.previousHash !== (this.#head?.hash ?? FIRST)) {
      return `Entry ${entry.seq} does not follow from the one before it.`;
    }
    const hash = createHash("sha256").update(entry.text).digest("hex");
    return hash === entry.hash ? undefined : `Entry ${entry.seq} was changed.`;
  }

  /** @param isWhole whether the log ends with the entry that was added last */
  verdict(isWhole: boolean): Omit<AuditVerdict, "protected"> {
    if (this.#head === undefined && this.#from !== undefined && this.#problem === undefined) {
      this.#problem = `Entry ${this.#from.seq} is missing.`;
      this.#brokenSeq = this.#from.seq;
    }
    const lost =
      isWhole && !this.broken && this.#known !== undefined && !this.#knownSeen
        ? `Entry ${this.#known.seq} is not there, or not with this hash.`
        : undefined;
    const problem = this.#problem ?? lost;
    return {
      valid: problem === undefined,
      entries: this.#entries,
      head: this.#head,
      next: isWhole || problem !== undefined ? undefined : this.#head,
      brokenSeq: this.#brokenSeq ?? (lost === undefined ? undefined : this.#known?.seq),
      problem,
    };
  }
}

const VERIFY_PAGE = 2_000;
/** Entries that are verified in one go by default; about half a second. */
export const VERIFIED_AT_ONCE = 10_000;

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
  addresses: z.array(z.string()),
  hash: z.string(),
  previousHash: z.string(),
});

/** The account of an entry is zeros in the side table when none was known. */
const ADDRESSES = sql.fragment`case when kind = 'login_failed' then (
  select coalesce(array_agg(distinct a.address), '{}') from failed_sign_in_addresses a
  where a.account_id = coalesce(subject_id, '00000000-0000-0000-0000-000000000000')
    and a.digest = any(string_to_array(
      coalesce(detail ->> 'address', detail ->> 'digests', ''), ' '))
) else '{}' end`;

const chainRow = z.object({
  seq: z.number(),
  text: z.string(),
  hash: z.string(),
  previousHash: z.string(),
});

const protectionRow = z.object({ protected: z.boolean() });

/** The audit log in PostgreSQL. Every method throws `unavailable` when storage is away. */
export class AuditStore {
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
        detail, encode(hash, 'hex') as hash, encode(previous_hash, 'hex') as "previousHash",
        ${ADDRESSES} as addresses
      from audit_log where ${allOf(conditions(filter, page.after))}
      order by seq desc limit ${page.limit + 1}`);
    return toPage(rows.map(toRecord), page.limit, (record) => String(record.seq));
  }

  /**
   * Computes the hashes of a span again; with `known`, also checks that this entry is still there,
   * as far as the span reaches.
   */
  async verify(known?: AuditHead, span: VerifiedSpan = {}): Promise<AuditVerdict> {
    const { from, limit = VERIFIED_AT_ONCE } = span;
    const chain = new AuditChain(known, from);
    let next = from?.seq ?? 1;
    let isWhole = false;
    while (!isWhole && !chain.broken && chain.entries < limit) {
      // The entry from which the span begins is read with it and not counted.
      const wanted = Math.min(VERIFY_PAGE, limit - chain.entries + (next === from?.seq ? 1 : 0));
      const rows = await this.#pool.any(sql.type(chainRow)`
        select a.seq, audit_text(a) as text, encode(a.hash, 'hex') as hash,
          encode(a.previous_hash, 'hex') as "previousHash"
        from audit_log a where a.seq >= ${next} order by a.seq limit ${wanted + 1}`);
      for (const row of rows.slice(0, wanted)) chain.add(row);
      isWhole = rows.length <= wanted;
      next = (rows.at(wanted - 1)?.seq ?? next) + 1;
    }
    return { ...chain.verdict(isWhole), protected: await this.isProtected() };
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
