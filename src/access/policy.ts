import type { DevicePrincipal, Principal, Scope, ServicePrincipal } from "./principal.ts";

/**
 * The result of an access check. The functions here decide who may do what with one resource from
 * facts about it; they look nothing up. Lists cannot call them for each row: the migration
 * `0113_rights.sql` says who reads a session (`session_readers`), and who may give access
 * (`inviter_rights`), as views and functions of the database. `test/integration/session-readers.test.ts`
 * holds both against each other. Which kinds of callers reach a route at all is decided before, by
 * the route's own `roles`.
 */
export type Verdict =
  | "allow"
  /** The resource is hidden from this caller: answered like an unknown id. */
  | "not_found"
  | "forbidden"
  /** The caller is an administrator without native access and without an elevation in force. */
  | "elevation_required"
  | "guest_access_closed";

/**
 * How guests get into a session: `open` by its id or by a guest code, `invitation` by a guest code
 * only, `closed` not at all.
 */
export const GUEST_ACCESS = ["open", "invitation", "closed"] as const;

export type GuestAccess = (typeof GUEST_ACCESS)[number];

/** The caller's own relation to a session. */
export type SessionRelation = "owner" | "participant" | "guest" | "shared" | "none";

export interface SessionFacts {
  kind: "session";
  id: string;
  workspaceId: string;
  relation: SessionRelation;
  /** The caller's role in the session's workspace. */
  workspaceRole: "owner" | "member" | undefined;
  deleted: boolean;
  /**
   * Set when the session has ended: nothing is recorded or read any more; corrections may still
   * come.
   */
  ended: "completed" | "failed" | undefined;
  /** As it holds now: the session's own, its workspace's, or the installation's. */
  guestAccess: GuestAccess;
  deviceId: string | undefined;
  /** Unix milliseconds. */
  startedAt: number;
  /**
   * When this administrator's elevation for the session ends, Unix milliseconds; undefined without
   * one.
   */
  elevatedUntil: number | undefined;
}

export type SessionAction =
  /** Title, times, status: metadata. */
  | "session.read"
  /** Words: segments, transcript, chunks, live view, summaries, answers, graph. */
  | "session.content"
  /** Export the words as a file. */
  | "session.export"
  | "session.audio"
  | "session.claim"
  | "session.assign"
  | "session.query"
  /** Read summaries, and request one. */
  | "session.summaries"
  | "session.summarise"
  | "session.edit"
  /** Give a speaker label a free name. */
  | "session.name"
  | "session.delete"
  | "session.stop"
  | "session.upload"
  /** Visibility. */
  | "session.members"
  /** Give somebody access, or invite them. */
  | "session.give"
  /** Take access or an invitation back, and see who is invited. */
  | "session.take_back"
  /** Transcribe again, and cancel jobs. */
  | "session.jobs"
  | "session.guests"
  | "session.concern"
  | "session.triage"
  | "session.redact";

interface WorkspaceFacts {
  kind: "workspace";
  id: string;
  role: "owner" | "member" | undefined;
  /** True when an elevation of this administrator covers the workspace. */
  elevated?: boolean;
}

export type WorkspaceAction =
  | "workspace.read"
  | "workspace.edit"
  | "workspace.pair"
  /** Begin sessions. */
  | "workspace.record"
  | "workspace.query"
  /** Workshops and their characters. */
  | "workspace.workshops"
  /** Manage webhooks; list and revoke service keys. */
  | "workspace.webhooks"
  /** Create service keys or their secrets, which open words without an elevation. */
  | "workspace.keys"
  /** Give others membership or another role, or invite them. */
  | "workspace.give"
  /** Give oneself membership or a higher role. */
  | "workspace.promote_self";

interface DeviceFacts {
  kind: "device";
  id: string;
  ownerId: string | undefined;
  workspaceRole: "owner" | "member" | undefined;
}

export type DeviceAction =
  | "device.operate"
  | "device.read"
  | "device.edit"
  /** Say whether its stream gets words: its owner alone, as they are words of the owner's sessions. */
  | "device.let_read";

const GUEST_ACTIONS: ReadonlySet<SessionAction> = new Set<SessionAction>([
  "session.read",
  "session.content",
  "session.export",
  "session.claim",
  "session.query",
  "session.concern",
]);

const CONTENT_ACTIONS: ReadonlySet<SessionAction> = new Set<SessionAction>([
  "session.content",
  "session.export",
  "session.audio",
  "session.query",
  "session.summaries",
  "session.summarise",
]);

/** The scope that allows a service key the action; absent means that no key may do it. */
const SESSION_SCOPES: Partial<Record<SessionAction, Scope>> = {
  "session.read": "sessions:read",
  "session.content": "sessions:read",
  "session.query": "query",
  "session.summaries": "sessions:read",
  "session.summarise": "query",
  "session.export": "export",
  "session.audio": "export",
  "session.edit": "sessions:write",
  "session.name": "sessions:write",
  "session.delete": "sessions:write",
  "session.stop": "sessions:write",
  "session.upload": "sessions:write",
  "session.members": "sessions:share",
  "session.give": "sessions:share",
  "session.take_back": "sessions:share",
  "session.jobs": "sessions:write",
  "session.guests": "sessions:share",
  "session.redact": "sessions:write",
  "session.concern": "sessions:write",
};

/** The scope that a service key needs for the action; undefined where no key may do it. */
export function scopeFor(action: SessionAction): Scope | undefined {
  return SESSION_SCOPES[action];
}

const WORKSPACE_SCOPES: Partial<Record<WorkspaceAction, Scope>> = {
  "workspace.read": "sessions:read",
  "workspace.query": "query",
  "workspace.record": "sessions:write",
  "workspace.webhooks": "webhooks",
};

/** Those of the owner's actions that moderators of the session's workspace share. */
const MODERATOR_ACTIONS: ReadonlySet<SessionAction> = new Set<SessionAction>([
  "session.guests",
  "session.name",
]);

const OWNER_ACTIONS: ReadonlySet<SessionAction> = new Set<SessionAction>([
  "session.assign",
  "session.edit",
  "session.name",
  "session.delete",
  "session.stop",
  "session.upload",
  "session.members",
  "session.guests",
]);

/**
 * Actions of the owner, moderators of the session's workspace, and administrators: those without
 * access of their own take words out for good only under an elevation.
 */
const STEWARD_ACTIONS: ReadonlySet<SessionAction> = new Set<SessionAction>([
  "session.triage",
  "session.redact",
]);

/** What ties somebody to a session, as it is stored. */
interface SessionTies {
  ownerId: string;
  /** As the session's owner let them in. */
  memberRelation: "participant" | "shared" | undefined;
  /** With its workspace. */
  isShared: boolean;
  workspaceRole: SessionFacts["workspaceRole"];
}

export function relationTo(
  principal: Principal,
  sessionId: string,
  { ownerId, memberRelation, isShared, workspaceRole }: SessionTies,
): SessionRelation {
  if (principal.kind === "guest") return principal.sessionId === sessionId ? "guest" : "none";
  if (principal.kind !== "user") return "none";
  if (ownerId === principal.id) return "owner";
  if (memberRelation !== undefined) return memberRelation;
  return isShared && workspaceRole !== undefined ? "shared" : "none";
}

/** Decides whether this principal may do this to a session. */
export function maySession(
  principal: Principal,
  action: SessionAction,
  facts: SessionFacts,
): Verdict {
  if (principal.kind === "device") return deviceOnSession(principal, action, facts);
  if (principal.kind === "guest") return guestOnSession(principal.sessionId, action, facts);
  if (principal.kind === "service") return serviceOnSession(principal, action, facts);
  if (facts.deleted && (principal.role !== "admin" || action !== "session.read")) {
    return action === "session.delete" && principal.role === "admin" ? "allow" : "not_found";
  }
  const native = facts.relation !== "none";
  const moderates = principal.role === "moderator" && facts.workspaceRole !== undefined;
  if (!native && !moderates && principal.role !== "admin") return "forbidden";
  return userOnSession(principal.role, action, facts, native, moderates);
}

function userOnSession(
  role: string,
  action: SessionAction,
  facts: SessionFacts,
  native: boolean,
  moderates: boolean,
): Verdict {
  if (OWNER_ACTIONS.has(action)) {
    if (facts.relation === "owner") return "allow";
    if (moderates && MODERATOR_ACTIONS.has(action)) return "allow";
    return action === "session.delete" && role === "admin" ? "allow" : "forbidden";
  }
  if (action === "session.give") {
    if (facts.relation === "owner") return "allow";
    return role === "admin" ? onlyElevated(facts.elevatedUntil !== undefined) : "forbidden";
  }
  if (action === "session.take_back") {
    return facts.relation === "owner" || role === "admin" ? "allow" : "forbidden";
  }
  if (action === "session.jobs") {
    return facts.relation === "owner" || role === "admin" ? "allow" : "forbidden";
  }
  if (STEWARD_ACTIONS.has(action)) {
    if (facts.relation === "owner" || moderates) return "allow";
    if (role !== "admin") return "forbidden";
    const isFree = native || action === "session.triage";
    return onlyElevated(isFree || facts.elevatedUntil !== undefined);
  }
  if (CONTENT_ACTIONS.has(action)) {
    if (!native && !moderates) return onlyElevated(facts.elevatedUntil !== undefined);
    return action === "session.audio" ? onAudio(role, facts, moderates) : "allow";
  }
  if (action === "session.claim") return native || moderates ? "allow" : "forbidden";
  return "allow";
}

function onlyElevated(isElevated: boolean): Verdict {
  return isElevated ? "allow" : "elevation_required";
}

/**
 * Participants may hear the sessions that they own; administrators with native access may hear all
 * content.
 */
function onAudio(role: string, { relation }: SessionFacts, moderates: boolean): Verdict {
  return relation === "owner" || moderates || role === "admin" ? "allow" : "forbidden";
}

/** True when this administrator may read the words only because of an elevation. */
export function readsByElevation(
  principal: Principal,
  action: SessionAction,
  facts: SessionFacts,
): boolean {
  return (
    principal.kind === "user" &&
    principal.role === "admin" &&
    facts.relation === "none" &&
    CONTENT_ACTIONS.has(action)
  );
}

/** Decides whether this principal may list sessions; each listed session is checked separately. */
export function mayListSessions(principal: Principal): Verdict {
  if (principal.kind === "user") return "allow";
  if (principal.kind !== "service") return "forbidden";
  return principal.scopes.includes("sessions:read") ? "allow" : "forbidden";
}

function guestOnSession(sessionId: string, action: SessionAction, facts: SessionFacts): Verdict {
  if (facts.deleted) return "not_found";
  if (facts.id !== sessionId) return "forbidden";
  if (facts.guestAccess === "closed") return "guest_access_closed";
  return GUEST_ACTIONS.has(action) ? "allow" : "forbidden";
}

/** A device whose right has ended may still bring what it had begun before. */
function deviceOnSession(
  { id, endedAt = Number.POSITIVE_INFINITY }: DevicePrincipal,
  action: SessionAction,
  facts: SessionFacts,
): Verdict {
  if (facts.deleted) return "not_found";
  if (facts.deviceId !== id || facts.startedAt >= endedAt) return "forbidden";
  return action === "session.upload" || action === "session.stop" ? "allow" : "forbidden";
}

/** A key sees only sessions of its own workspace; others count as unknown. */
function serviceOnSession(
  { workspaceId, scopes }: ServicePrincipal,
  action: SessionAction,
  facts: SessionFacts,
): Verdict {
  if (facts.deleted || facts.workspaceId !== workspaceId) return "not_found";
  const scope = SESSION_SCOPES[action];
  return scope !== undefined && scopes.includes(scope) ? "allow" : "forbidden";
}

function serviceOnWorkspace(
  { workspaceId, scopes }: ServicePrincipal,
  action: WorkspaceAction,
  facts: WorkspaceFacts,
): Verdict {
  if (facts.id !== workspaceId) return "not_found";
  const scope = WORKSPACE_SCOPES[action];
  return scope !== undefined && scopes.includes(scope) ? "allow" : "forbidden";
}

/** Decides whether this principal may do this to a workspace. */
export function mayWorkspace(
  principal: Principal,
  action: WorkspaceAction,
  facts: WorkspaceFacts,
): Verdict {
  if (principal.kind === "service") return serviceOnWorkspace(principal, action, facts);
  if (principal.kind !== "user") return "forbidden";
  if (facts.role === undefined && principal.role !== "admin") return "forbidden";
  if (action === "workspace.query" && facts.role === undefined) return "elevation_required";
  // These actions would give an administrator permanent access to the words, without elevations.
  if (action === "workspace.keys" || action === "workspace.promote_self") {
    return facts.role === "owner" ? "allow" : "forbidden";
  }
  // Whom an administrator lets in reads what he himself may not: an account of his own, too.
  if (action === "workspace.give") {
    if (facts.role === "owner") return "allow";
    return principal.role === "admin" ? onlyElevated(facts.elevated === true) : "forbidden";
  }
  const owners = action === "workspace.edit" || action === "workspace.webhooks";
  if (owners && facts.role !== "owner" && principal.role !== "admin") {
    return "forbidden";
  }
  return "allow";
}

/** Decides whether this principal may do this to a device. */
export function mayDevice(principal: Principal, action: DeviceAction, facts: DeviceFacts): Verdict {
  if (principal.kind === "guest" || principal.kind === "service") return "forbidden";
  if (principal.kind === "device") {
    if (principal.id !== facts.id) return "forbidden";
    return action === "device.operate" ? "allow" : "forbidden";
  }
  if (action === "device.operate") return "forbidden";
  if (action === "device.let_read") return principal.id === facts.ownerId ? "allow" : "forbidden";
  if (principal.role === "admin" || principal.id === facts.ownerId) return "allow";
  if (facts.workspaceRole === undefined) return "forbidden";
  return action === "device.read" || facts.workspaceRole === "owner" ? "allow" : "forbidden";
}
