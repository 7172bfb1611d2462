import type { AuditActor, AuditKind } from "../../access/audit-trail.ts";
import type { Page, PageRequest } from "../../rest/page.ts";

/** An entry of the audit log as it stands. */
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

export interface AuditFilter {
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

export interface AuditVerdict {
  valid: boolean;
  entries: number;
  /** The newest entry: keep it elsewhere, and a log that was cut short shows. */
  head: AuditHead | undefined;
  /** The first entry that does not fit. */
  brokenSeq?: number | undefined;
  problem?: string | undefined;
  /** The serving database role can neither change nor delete entries. */
  protected: boolean;
}

/** Port: the audit log for readers. Every method throws `unavailable` when storage is away. */
export interface AuditDirectory {
  /** Newest first. */
  list(filter: AuditFilter, page: PageRequest): Promise<Page<AuditRecord>>;
  /** Computes every hash again; with `known` also that this entry still stands. */
  verify(known?: AuditHead): Promise<AuditVerdict>;
}
