import type { AuditActor } from "../../access/audit-trail.ts";
import type { Page, PageRequest } from "../../rest/page.ts";

/** A command to a session's actor that failed so often that it is tried no more. */
export interface ParkedRecord {
  id: string;
  sessionId: string;
  type: string;
  attempts: number;
  /** Unix milliseconds. */
  createdAt: number;
  parkedAt: number;
  /** Why, in one line; no words of a session. */
  reason: string;
}

/** What of the parked commands is meant. */
export type ParkedChoice = { ids: readonly string[] } | "all";

/**
 * Port: commands that were put aside. Both acts go with an audit entry or not at
 * all, and tell how many commands they found.
 */
export interface ParkedCommands {
  list(page: PageRequest): Promise<Page<ParkedRecord>>;
  /** They are tried again within seconds, as if they were new. */
  retry(choice: ParkedChoice, actor: AuditActor): Promise<number>;
  /** They are never carried out; a chunk that its session was never told of has failed. */
  drop(ids: readonly string[], actor: AuditActor): Promise<number>;
}
