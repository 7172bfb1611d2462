import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type {
  DevicePrincipal,
  GuestPrincipal,
  Principal,
  UserPrincipal,
} from "../../src/access/principal.ts";
import { newId } from "../../src/base/ids.ts";
import { PostgresSessionDeletion } from "../../src/conversations/erasure/session-erasure-store.ts";
import type { Route } from "../../src/rest/route.ts";
import { DELETION_PARTS } from "../../src/roles/other-tables.ts";
import type { OutsideCommand } from "../../src/session/outside-command.ts";
import { groupRoutes } from "../support/group-routes.ts";
import { callRoute, codeOf, jsonBody } from "../support/route-call.ts";
import { SessionFixture } from "../support/session-fixture.ts";
import { SessionStory } from "../support/session-story.ts";

type Body = Record<string, unknown>;

describe("concerns", () => {
  let fixture: SessionFixture;
  let routes: Route[];
  const asked: OutsideCommand[] = [];
  let owner: UserPrincipal;
  let admin: UserPrincipal;
  let device: DevicePrincipal;
  let sessionId: string;

  beforeAll(async () => {
    fixture = await SessionFixture.open();
    routes = groupRoutes(fixture, asked);
    admin = await fixture.user("admin");
  });
  afterAll(() => fixture.close());
  beforeEach(async () => {
    ({ owner, device } = await fixture.ownDevice());
    sessionId = await fixture.start(device);
    asked.length = 0;
    fixture.notified.length = 0;
  });

  async function ask(
    principal: Principal,
    id: string,
    params: Record<string, string> = {},
    body?: unknown,
    query: Body = {},
  ): Promise<Body> {
    return jsonBody(await callRoute(routes, id, { principal, params, body, query }));
  }

  const raise = (principal: Principal, more: Body = {}): Promise<Body> =>
    ask(
      principal,
      "raiseConcern",
      { session_id: sessionId },
      {
        category: "privacy",
        description: "My address is read out.",
        ...more,
      },
    );

  const triage = (principal: Principal, concern: Body, body: Body): Promise<Body> =>
    ask(principal, "triageConcern", { concern_id: String(concern.id) }, body);

  const get = (principal: Principal, concern: Body): Promise<Body> =>
    ask(principal, "getConcern", { concern_id: String(concern.id) });

  async function ids(principal: Principal, query: Body = {}): Promise<unknown[]> {
    const { items } = await ask(principal, "listConcerns", {}, undefined, query);
    return (items as Body[]).map((each) => each.id);
  }

  async function guest(name = "Gus"): Promise<GuestPrincipal> {
    const id = newId();
    await fixture.sql(
      `insert into guests (id, session_id, display_name, expires_at)
       values ($1, $2, $3, now() + interval '1 hour')`,
      [id, sessionId, name],
    );
    const rest = { displayName: name, tokenId: newId(), expiresAt: Date.now() + 60_000 };
    return { kind: "guest", id, role: "guest", sessionId, ...rest };
  }

  it("raise: concern and command go together, and the command holds no words", async () => {
    const visitor = await guest();
    const concern = await raise(visitor, { start_ms: 1_000, end_ms: 2_500 });
    expect(concern).toEqual({
      id: expect.any(String),
      session_id: sessionId,
      category: "privacy",
      status: "open",
      content_visible: true,
      description: "My address is read out.",
      start_ms: 1_000,
      end_ms: 2_500,
      raised_by: { kind: "guest", id: visitor.id, display_name: "Gus" },
      created_at: expect.stringMatching(/Z$/),
      updated_at: expect.stringMatching(/Z$/),
    });
    const rows = await fixture.sql(
      "select id, command from outbox where session_id = $1 and command ->> 'type' = 'ConcernStored'",
      [sessionId],
    );
    expect(rows).toEqual([
      { id: expect.any(String), command: { type: "ConcernStored", concernId: concern.id } },
    ]);
    await expect.poll(() => fixture.notified.map((row) => row.id)).toContain(rows[0]?.id);
  });

  it("raise: points at a segment that is there, or at a right span, not at both", async () => {
    const story = await SessionStory.open(fixture, sessionId);
    await story.tell([{ type: "SessionStarted", sessionId, jobId: newId(), language: "en" }]);
    const segmentId = await story.say("S1", 16_000, "twelve elm street");
    const concern = await raise(owner, { segment_id: segmentId });
    expect(concern).toMatchObject({ segment_id: segmentId, start_ms: 1_000, end_ms: 1_750 });
    expect(await codeOf(raise(owner, { segment_id: newId() }))).toBe("not_found");
    for (const wrong of [
      { start_ms: 5 },
      { end_ms: 5 },
      { start_ms: 5, end_ms: 5 },
      { start_ms: 1, end_ms: 2, segment_id: segmentId },
    ]) {
      expect(await codeOf(raise(owner, wrong)), JSON.stringify(wrong)).toBe("invalid_body");
    }
    expect(await codeOf(raise(await fixture.user()))).toBe("forbidden");
    expect(await codeOf(raise(device))).toBe("forbidden");
  });

  it("read: guests their own, sessions' people all of one session, each triager what is theirs", async () => {
    const visitor = await guest();
    const other = await guest("Gil");
    const shared = await fixture.user();
    await fixture.sql("insert into session_members values ($1, $2, 'shared')", [
      sessionId,
      shared.id,
    ]);
    const moderator = await fixture.user("moderator");
    await fixture.join(device.workspaceId, moderator.id);
    const first = await raise(visitor);
    const second = await raise(shared, { category: "safety" });
    const both = [second.id, first.id];
    const inSession = async (principal: Principal): Promise<unknown[]> => {
      const { items } = await ask(principal, "listSessionConcerns", { session_id: sessionId });
      return (items as Body[]).map((each) => each.id);
    };
    expect(await inSession(owner)).toEqual(both);
    expect(await inSession(shared)).toEqual(both);
    expect(await inSession(visitor)).toEqual([first.id]);
    expect(await inSession(other)).toEqual([]);
    expect(await codeOf(get(other, first))).toBe("forbidden");
    expect(await get(visitor, first)).toEqual(first);
    expect(await ids(owner)).toEqual(both);
    expect(await ids(moderator)).toEqual(both);
    expect(await ids(shared)).toEqual([second.id]);
    expect(await ids(visitor)).toEqual([first.id]);
    expect(await ids(await fixture.user("moderator"))).toEqual([]);
    expect(await ids(owner, { category: "safety" })).toEqual([second.id]);
    expect(await ids(owner, { status: "resolved" })).toEqual([]);
    expect(await ids(owner, { workspace_id: newId() })).toEqual([]);
    expect(await codeOf(ids(owner, { session_id: "nonsense" }))).toBe("invalid_parameter");
    expect(await codeOf(get(owner, { id: newId() }))).toBe("not_found");
  });

  it("read: an administrator triages without seeing texts of sessions that are not theirs", async () => {
    const concern = await raise(owner);
    const { items } = await ask(admin, "listConcerns", {}, undefined, { session_id: sessionId });
    expect(items).toEqual([expect.objectContaining({ id: concern.id, content_visible: false })]);
    expect((items as Body[])[0]).not.toHaveProperty("description");
    expect(await codeOf(get(admin, concern))).toBe("elevation_required");
    const inSession = ask(admin, "listSessionConcerns", { session_id: sessionId });
    expect(await codeOf(inSession)).toBe("elevation_required");
    const answer = await triage(admin, concern, { status: "acknowledged", resolution: "Seen" });
    expect(answer).toMatchObject({ status: "acknowledged", content_visible: false });
    expect(answer).not.toHaveProperty("resolution");
    await fixture.sql(
      `insert into content_elevations (id, admin_id, session_id, reason, expires_at)
       values ($1, $2, $3, 'A complaint came in', now() + interval '1 minute')`,
      [newId(), admin.id, sessionId],
    );
    expect(await get(admin, concern)).toMatchObject({ description: "My address is read out." });
    const reads = await fixture.sql(
      "select actor_id from audit_log where kind = 'content_read' and session_id = $1",
      [sessionId],
    );
    expect(reads).toEqual([{ actor_id: admin.id }]);
    const again = await triage(admin, concern, { resolution: "Seen" });
    expect(again.content_visible).toBe(false);
    await fixture.join(device.workspaceId, admin.id);
    await fixture.sql("update sessions set visibility = 'workspace' where id = $1", [sessionId]);
    expect(await get(admin, concern)).toMatchObject({ resolution: "Seen" });
  });

  it("triage: by owner, moderator and admin; closed and opened again", async () => {
    const concern = await raise(await guest(), { category: "accuracy" });
    const shared = await fixture.user();
    await fixture.sql("insert into session_members values ($1, $2, 'participant')", [
      sessionId,
      shared.id,
    ]);
    expect(await codeOf(triage(shared, concern, { status: "resolved" }))).toBe("forbidden");
    expect(await codeOf(triage(owner, concern, {}))).toBe("invalid_body");
    const dismissed = await triage(owner, concern, { status: "dismissed", resolution: " No. " });
    expect(dismissed).toMatchObject({
      status: "dismissed",
      resolution: "No.",
      handled_by: owner.id,
      closed_at: expect.stringMatching(/Z$/),
    });
    const moderator = await fixture.user("moderator");
    await fixture.join(device.workspaceId, moderator.id);
    const open = await triage(moderator, concern, { status: "open" });
    expect(open).toMatchObject({ status: "open", handled_by: moderator.id });
    expect(open).not.toHaveProperty("closed_at");
  });

  it("triage: of two that knew the same state one is taken", async () => {
    const expected = await raise(owner);
    const params = { concern_id: String(expected.id) };
    const settle = (status: string): Promise<string> =>
      codeOf(
        callRoute(routes, "triageConcern", {
          principal: owner,
          params,
          expected,
          body: { status },
        }),
      );
    const codes = await Promise.all(["acknowledged", "dismissed", "resolved"].map(settle));
    expect(codes.toSorted()).toEqual(["none", "precondition_failed", "precondition_failed"]);
  });

  it("redact: asks the session for the span and resolves", async () => {
    const concern = await raise(owner, { start_ms: 1_000, end_ms: 2_000 });
    const redact = { status: "resolved", redact: true };
    const resolved = await triage(owner, concern, redact);
    expect(resolved).toMatchObject({ status: "resolved", redaction_id: expect.any(String) });
    // It may quote the words that were taken out.
    expect(resolved.description).toBe("[redacted-span]");
    expect(asked).toEqual([
      {
        type: "Redact",
        redactionId: resolved.redaction_id,
        from: 16_008,
        to: 31_992,
        label: "",
        byUserId: owner.id,
      },
    ]);
    expect(await codeOf(triage(owner, concern, { status: "open", redact: true }))).toBe(
      "invalid_body",
    );
    const whole = await raise(owner);
    expect(await codeOf(triage(owner, whole, redact))).toBe("conflict");
    const wrong = await raise(owner, { category: "accuracy", start_ms: 0, end_ms: 9 });
    expect(await codeOf(triage(owner, wrong, redact))).toBe("conflict");
    expect(asked).toHaveLength(1);
  });

  it("deletion: takes the texts with it; administrators keep the record", async () => {
    const concern = await raise(owner);
    await triage(owner, concern, { resolution: "Calling them" });
    const by = { kind: "user", id: owner.id } as const;
    const deletion = new PostgresSessionDeletion(fixture.pool, DELETION_PARTS);
    const erased = await deletion.erase(sessionId, "session_deleted_by_owner", by);
    expect(erased?.receipt.removed).toMatchObject({ concerns: 1 });
    const [row] = await fixture.sql("select description, resolution from concerns where id = $1", [
      concern.id,
    ]);
    expect(row).toEqual({ description: "", resolution: "" });
    expect(await codeOf(get(owner, concern))).toBe("not_found");
    expect(await ids(owner)).toEqual([]);
    expect(await ids(admin, { session_id: sessionId })).toEqual([concern.id]);
    const late = triage(admin, concern, { resolution: "Too late" });
    expect(await codeOf(late)).toBe("not_found");
    expect(await codeOf(raise(admin))).toBe("not_found");
  });
});
