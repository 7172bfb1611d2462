import type { Principal } from "../../access/principal.ts";
import type { OutboxRow } from "../../postgres/sessions-outbox.ts";
import type { Page, PageRequest } from "../../rest/page.ts";

export const CONCERN_CATEGORIES = ["accuracy", "privacy", "safety", "other"] as const;
export const CONCERN_STATUSES = ["open", "acknowledged", "resolved", "dismissed"] as const;

type ConcernCategory = (typeof CONCERN_CATEGORIES)[number];
type ConcernStatus = (typeof CONCERN_STATUSES)[number];
export type RaiserKind = "user" | "guest" | "service";

/** Positions on a session's timeline, samples at 16 kHz. */
export interface Span {
  from: number;
  to: number;
}

export interface NewConcern {
  id: string;
  sessionId: string;
  category: ConcernCategory;
  description: string;
  /** What it is about; the span of a segment is looked up. */
  segmentId: string | undefined;
  span: Span | undefined;
  raisedBy: { kind: RaiserKind; id: string };
}

/** Times are Unix milliseconds. Texts are empty once the session's words were erased. */
export interface ConcernRecord {
  id: string;
  sessionId: string;
  category: ConcernCategory;
  status: ConcernStatus;
  description: string;
  resolution: string;
  segmentId?: string | undefined;
  span?: Span | undefined;
  raisedBy: { kind: RaiserKind; id: string; displayName?: string | undefined };
  handledById?: string | undefined;
  redactionId?: string | undefined;
  createdAt: number;
  updatedAt: number;
  closedAt?: number | undefined;
}

/** One of many: `readable` when its reader has native access to the session's content. */
export interface ListedConcern extends ConcernRecord {
  readable: boolean;
}

export interface ConcernFilter {
  sessionId?: string | undefined;
  workspaceId?: string | undefined;
  status?: ConcernStatus | undefined;
  category?: ConcernCategory | undefined;
}

export interface ConcernChange {
  status: ConcernStatus | undefined;
  resolution: string | undefined;
  redactionId: string | undefined;
  handledById: string;
}

/** Port: concerns about sessions, newest first in lists. Throws `unavailable` when storage is away. */
export interface ConcernBook {
  /**
   * The concern and the command that tells the session's followers, all or
   * nothing. Throws `not_found` for an unknown segment, `session_deleted` when
   * the session went meanwhile.
   */
  raise(concern: NewConcern): Promise<{ concern: ConcernRecord; outbox: OutboxRow[] }>;
  find(id: string): Promise<ConcernRecord | undefined>;
  /** Of one session; only what `raisedById` raised, when given. */
  ofSession(
    sessionId: string,
    raisedById: string | undefined,
    page: PageRequest,
  ): Promise<Page<ConcernRecord>>;
  /** What the caller may triage, or raised and may still see. */
  listFor(
    principal: Principal,
    filter: ConcernFilter,
    page: PageRequest,
  ): Promise<Page<ListedConcern>>;
  /**
   * Undefined, and nothing changed, when it was changed after `since`. Throws
   * `session_deleted` when the session went meanwhile.
   */
  change(id: string, change: ConcernChange, since?: number): Promise<ConcernRecord | undefined>;
}
