import type { AuditActor, AuditKind } from "../../access/audit-trail.ts";

/** Why a session was deleted: the kind of its audit entry. */
export type DeletionKind = Extract<
  AuditKind,
  | "session_deleted_by_owner"
  | "session_deleted_by_admin"
  | "account_erasure_session_redacted"
  | "retention_session_redacted"
>;

/** What a deletion removed. */
export interface DeletionReceipt {
  id: string;
  sessionId: string;
  workspaceId: string;
  kind: DeletionKind;
  /** Unix milliseconds. */
  deletedAt: number;
  /** Counts by what they count, e.g. `segments`, `audio_chunks`, `audio_bytes`. */
  removed: Readonly<Record<string, number>>;
  /** The files are gone; until then the service goes on removing them. */
  audioErased: boolean;
}

/**
 * Port: deletes a session for good. Words, names and everything derived from
 * them go in one transaction together with the audit entry; the audio files
 * follow at once, or as soon as the disk lets them. Repeatable: the first
 * receipt comes again. Undefined when there is no such session.
 */
export interface SessionEraser {
  erase(
    sessionId: string,
    kind: DeletionKind,
    actor: AuditActor,
  ): Promise<DeletionReceipt | undefined>;
}
