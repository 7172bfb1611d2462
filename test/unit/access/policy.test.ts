import { describe, expect, it } from "vitest";
import {
  maySession,
  type SessionAction,
  type SessionFacts,
  type SessionRelation,
} from "../../../src/access/policy.ts";
import {
  type Principal,
  SCOPES,
  type Scope,
  type UserPrincipal,
} from "../../../src/access/principal.ts";

const CONTENT: SessionAction[] = [
  "session.content",
  "session.query",
  "session.summaries",
  "session.summarise",
];
const OWNER_ONLY: SessionAction[] = [
  "session.assign",
  "session.edit",
  "session.stop",
  "session.members",
];
/** Administrators give access under an elevation, and take it back without. */
const SHARING: SessionAction[] = ["session.give", "session.take_back"];
const ALL: SessionAction[] = [
  ...CONTENT,
  ...OWNER_ONLY,
  ...SHARING,
  "session.read",
  "session.audio",
  "session.claim",
  "session.jobs",
  "session.delete",
  "session.upload",
  "session.guests",
  "session.concern",
  "session.triage",
  "session.redact",
];

function session(facts: Partial<SessionFacts> = {}): SessionFacts {
  return {
    kind: "session",
    workspaceId: "w1",
    id: "s",
    relation: "none",
    workspaceRole: undefined,
    deleted: false,
    ended: undefined,
    guestAccess: "open",
    deviceId: "d",
    startedAt: 0,
    elevatedUntil: undefined,
    ...facts,
  };
}

function user(role: UserPrincipal["role"]): Principal {
  return { kind: "user", id: "u", role, tokenId: "t", expiresAt: 0 };
}

function guest(sessionId = "s"): Principal {
  const rest = { displayName: "G", tokenId: "g", expiresAt: 0 };
  return { kind: "guest", id: "g", role: "guest", sessionId, ...rest };
}

function allowed(principal: Principal, facts: SessionFacts): SessionAction[] {
  return ALL.filter((action) => maySession(principal, action, facts) === "allow").sort();
}

describe("session policy", () => {
  it("stranger: no action at all, whatever the workspace role of a participant", () => {
    for (const workspaceRole of [undefined, "member", "owner"] as const) {
      expect(allowed(user("participant"), session({ workspaceRole }))).toEqual([]);
    }
    expect(allowed(user("moderator"), session())).toEqual([]);
  });

  it("owner: everything", () => {
    const expected = [...ALL].sort();
    for (const role of ["participant", "moderator", "admin"] as const) {
      expect(allowed(user(role), session({ relation: "owner" }))).toEqual(expected);
    }
  });

  it("participant or shared: content without audio, and nothing of the owner's", () => {
    for (const relation of ["participant", "shared"] satisfies SessionRelation[]) {
      expect(allowed(user("participant"), session({ relation }))).toEqual(
        [...CONTENT, "session.claim", "session.concern", "session.read"].sort(),
      );
    }
  });

  it("moderator: content and audio in own workspaces, and may close guest access", () => {
    expect(allowed(user("moderator"), session({ workspaceRole: "member" }))).toEqual(
      [
        ...CONTENT,
        "session.audio",
        "session.claim",
        "session.concern",
        "session.guests",
        "session.read",
        "session.redact",
        "session.triage",
      ].sort(),
    );
  });

  it("admin: content only natively or with an elevation in force", () => {
    for (const action of [...CONTENT, "session.audio"] as const) {
      expect(maySession(user("admin"), action, session())).toBe("elevation_required");
      expect(maySession(user("admin"), action, session({ elevatedUntil: 1 }))).toBe("allow");
    }
    for (const relation of ["participant", "shared"] satisfies SessionRelation[]) {
      expect(maySession(user("admin"), "session.audio", session({ relation }))).toBe("allow");
    }
    for (const action of ["session.read", "session.triage"] as const) {
      expect(maySession(user("admin"), action, session())).toBe("allow");
    }
    const redacts = (facts: SessionFacts) => maySession(user("admin"), "session.redact", facts);
    expect(redacts(session())).toBe("elevation_required");
    expect(redacts(session({ elevatedUntil: 1 }))).toBe("allow");
    expect(redacts(session({ relation: "shared" }))).toBe("allow");
    expect(maySession(user("admin"), "session.give", session())).toBe("elevation_required");
    for (const action of SHARING) {
      expect(maySession(user("admin"), action, session({ elevatedUntil: 1 }))).toBe("allow");
      expect(maySession(user("participant"), action, session({ elevatedUntil: 1 }))).not.toBe(
        "allow",
      );
    }
    for (const action of OWNER_ONLY) {
      expect(maySession(user("admin"), action, session({ elevatedUntil: 1 }))).toBe("forbidden");
    }
  });

  it("guest: its one session without audio, and nothing once guest access is closed", () => {
    expect(allowed(guest(), session())).toEqual(
      [
        "session.content",
        "session.query",
        "session.claim",
        "session.concern",
        "session.read",
      ].sort(),
    );
    expect(allowed(guest("other"), session())).toEqual([]);
    expect(maySession(guest(), "session.content", session({ guestAccess: "closed" }))).toBe(
      "guest_access_closed",
    );
  });

  it("service key: uploads with sessions:write, within its workspace", () => {
    const key = (scope: Scope, workspaceId = "w1"): Principal => {
      const rest = { secretId: "x", makerId: "o", scopes: [scope], expiresAt: 0 };
      return { kind: "service", id: "k", workspaceId, ...rest };
    };
    expect(maySession(key("sessions:write"), "session.upload", session())).toBe("allow");
    expect(maySession(key("sessions:read"), "session.upload", session())).toBe("forbidden");
    const foreign = key("sessions:write", "w2");
    expect(maySession(foreign, "session.upload", session())).toBe("not_found");
  });

  it("service key: shares with sessions:share only", () => {
    for (const scope of SCOPES) {
      const rest = { secretId: "x", makerId: "o", scopes: [scope], expiresAt: 0 };
      const key: Principal = { kind: "service", id: "k", workspaceId: "w1", ...rest };
      const verdict = scope === "sessions:share" ? "allow" : "forbidden";
      expect(maySession(key, "session.members", session()), scope).toBe(verdict);
      expect(maySession(key, "session.guests", session()), scope).toBe(verdict);
    }
  });

  it("device: uploads to and stops its own sessions only", () => {
    const device = (id: string): Principal => {
      return { kind: "device", id, keyId: "k", workspaceId: "w", ownerId: "o", expiresAt: 0 };
    };
    expect(allowed(device("d"), session())).toEqual(["session.stop", "session.upload"]);
    expect(allowed(device("e"), session())).toEqual([]);
  });

  it("deleted: unknown to all but admins", () => {
    const gone = session({ relation: "owner", deleted: true });
    for (const action of ALL) {
      expect(maySession(user("participant"), action, gone)).toBe("not_found");
      expect(maySession(guest(), action, gone)).toBe("not_found");
    }
    expect(maySession(user("admin"), "session.read", gone)).toBe("allow");
  });
});
