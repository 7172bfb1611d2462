import type { AuditEntry } from "../../access/audit-trail.ts";
import type { Page, PageRequest } from "../../rest/page.ts";

/** A person's tie to a session, besides what sharing with the workspace gives. */
export interface SessionMemberRecord {
  userId: string;
  email: string;
  name: string;
  relation: "owner" | "participant" | "shared";
  /** Unix milliseconds. */
  createdAt: number;
}

export interface NewSessionMember {
  sessionId: string;
  userId: string;
  relation: "participant" | "shared";
}

/** Port: the people of a session. Every method throws `unavailable` when storage is away. */
export interface SessionMembers {
  /** The owner among them. */
  list(sessionId: string, page: PageRequest): Promise<Page<SessionMemberRecord>>;
  /**
   * With its audit entry, or not at all. `already` tells of the tie that the
   * user has, the owner's included.
   */
  add(
    member: NewSessionMember,
    audit: AuditEntry,
  ): Promise<{ member: SessionMemberRecord } | { already: SessionMemberRecord["relation"] }>;
  /** With its audit entry, or not at all; false when the user is no member. */
  remove(sessionId: string, userId: string, audit: AuditEntry): Promise<boolean>;
}
