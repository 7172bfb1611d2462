import type { SessionFacts } from "../../access/policy.ts";
import type { Principal } from "../../access/principal.ts";
import type { Page, PageRequest } from "../../rest/page.ts";
import type { ClaimSource, SessionPhase, StopReason } from "../../session/status.ts";

/** What is known of a session besides its words. Times are Unix milliseconds. */
export interface SessionRecord {
  id: string;
  workspaceId: string;
  ownerId: string;
  deviceId?: string;
  jobId: string;
  title: string;
  language: string;
  status: SessionPhase;
  visibility: "private" | "workspace";
  guestAccess: "open" | "closed";
  workshopId?: string;
  startedAt: number;
  stoppedAt?: number;
  /** Set when the service stopped it by itself. */
  stopReason?: StopReason;
  completedAt?: number;
  createdAt: number;
}

export interface SessionFilter {
  workspaceId?: string;
  status?: SessionPhase;
}

/** One voice of a session, with who claimed it. */
export interface SpeakerRecord {
  label: string;
  segmentCount: number;
  speakingMs: number;
  claimedUserId?: string;
  displayName?: string;
  source?: ClaimSource;
}

/** Port: sessions as readers see them. Every method throws `unavailable` when storage is away. */
export interface SessionDirectory {
  /** The caller's ties to a session for `maySession`; undefined when there is no such session. */
  facts(principal: Principal, sessionId: string): Promise<SessionFacts | undefined>;
  get(sessionId: string): Promise<SessionRecord | undefined>;
  /** Puts on record that content was read under an elevation; resolves after the entry is durable. */
  recordContentRead(principal: Principal, sessionId: string, action: string): Promise<void>;
  /** Newest first; only what `principal` may read, deleted ones only when asked for by an admin. */
  list(
    principal: Principal,
    filter: SessionFilter,
    page: PageRequest,
  ): Promise<Page<SessionRecord>>;
  /** By label number, unknown (`UU`) last. */
  speakers(sessionId: string): Promise<SpeakerRecord[]>;
}

/** Port: who a label can be assigned to. Throws `unavailable` when storage is away. */
export interface AssigneeDirectory {
  /** An enabled user, or a guest of this session whose access stands. */
  isAssignable(sessionId: string, userId: string): Promise<boolean>;
}
