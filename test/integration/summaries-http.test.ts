import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type {
  GuestPrincipal,
  Scope,
  ServicePrincipal,
  UserPrincipal,
} from "../../src/access/principal.ts";
import { newId } from "../../src/base/ids.ts";
import { PostgresSessionDeletion } from "../../src/conversations/erasure/session-erasure-store.ts";
import { SessionStore } from "../../src/conversations/sessions/store.ts";
import { summarisationJobRoutes, summaryRoutes } from "../../src/conversations/summaries/routes.ts";
import { SummaryStore } from "../../src/conversations/summaries/store.ts";
import { TemplateStore } from "../../src/conversations/summaries/templates-store.ts";
import { DELETION_PARTS } from "../../src/roles/other-tables.ts";
import { type Call, callRoute, codeOf, jsonBody } from "../support/route-call.ts";
import { SessionFixture } from "../support/session-fixture.ts";
import {
  fastRunner,
  LocalSummariser,
  type SpokenSession,
  spokenSession,
} from "../support/summary-fixture.ts";
import { until } from "../support/until.ts";

const HIDDEN = "[hidden: content elevation required]";

describe("summaries: routes", () => {
  let fixture: SessionFixture;
  let session: SpokenSession;
  let admin: UserPrincipal;
  let routes: ReturnType<typeof summaryRoutes>;

  beforeAll(async () => {
    fixture = await SessionFixture.open();
    session = await spokenSession(fixture);
    admin = await fixture.user("admin");
    const directory = new SessionStore(fixture.pool);
    const summaries = new SummaryStore(fixture.pool);
    const templates = new TemplateStore(fixture.pool);
    const cursorKey = new Uint8Array(32).fill(7);
    routes = [
      ...summaryRoutes({ directory, summaries, templates }),
      ...summarisationJobRoutes({ directory, summaries, cursorKey }),
    ];
  });
  afterAll(() => fixture.close());

  const here = () => ({ params: { session_id: session.sessionId } });

  async function call(id: string, options: Call): Promise<Record<string, unknown>> {
    return jsonBody(await callRoute(routes, id, options));
  }

  const ask = (principal: UserPrincipal, summary_type: string) =>
    call("requestSummary", { ...here(), principal, body: { summary_type } });

  async function list(): Promise<Record<string, unknown>[]> {
    const body = await call("listSummaries", { ...here(), principal: session.owner });
    expect(body.next_cursor).toBeNull();
    return body.items as Record<string, unknown>[];
  }

  const detail = (principal: UserPrincipal, id: unknown) =>
    call("getSummarisationJob", { params: { id: String(id) }, principal });

  /** Has everything that is queued made. */
  async function work(): Promise<void> {
    const runner = fastRunner(fixture, new LocalSummariser());
    runner.start();
    await until(async () => {
      const open = await fixture.sql(
        "select 1 from jobs where kind = 'summarisation' and status in ('queued', 'running')",
      );
      return open.length === 0;
    }, "the jobs");
    await runner.stop();
  }

  it("asking twice is asking once, until it is done", async () => {
    const first = await ask(session.owner, "brief");
    expect(first).toMatchObject({
      session_id: session.sessionId,
      summary_type: "brief",
      status: "queued",
      progress: 0,
      error: "",
    });
    expect(first).not.toHaveProperty("completed_at");
    const again = await Promise.all(Array.from({ length: 5 }, () => ask(session.owner, "brief")));
    expect(new Set(again.map(({ id }) => id))).toEqual(new Set([first.id]));
    expect((await ask(session.owner, "topics")).id).not.toBe(first.id);
    expect(await list()).toEqual([]);
    await work();
    expect((await ask(session.owner, "brief")).id).not.toBe(first.id);
    await work();
  });

  it("lists the newest of each type, with sources and times", async () => {
    const found = await list();
    expect(found.map(({ summary_type }) => summary_type).sort()).toEqual(["brief", "topics"]);
    const brief = found.find(({ summary_type }) => summary_type === "brief");
    expect(brief).toMatchObject({ session_id: session.sessionId, stale: false });
    const [part] = (brief?.items ?? []) as Record<string, unknown>[];
    expect(part).toEqual({
      text: "Today we will talk about the launch of the new system.",
      segment_ids: [session.story.segmentId(0)],
      start_ms: 0,
      speaker: "Olga Owner",
    });
  });

  it("says when the transcript, or a claim in it, has changed since", async () => {
    const { story, owner } = session;
    const claim = { source: "self_claim" as const, byUserId: owner.id };
    await story.tell([{ type: "SpeakerClaimed", label: "S2", claimedUserId: owner.id, ...claim }]);
    expect((await list()).every(({ stale }) => stale === true)).toBe(true);
    await ask(session.owner, "brief");
    await work();
    const fresh = (await list()).filter(({ stale }) => stale === false);
    expect(fresh.map(({ summary_type }) => summary_type)).toEqual(["brief"]);
    await story.say("S2", 240_000, "one thing more about the launch");
    expect((await list()).every(({ stale }) => stale === true)).toBe(true);
  });

  it("are for those with native access; guests have none", async () => {
    const stranger = await fixture.user();
    const shared = await fixture.user();
    await fixture.sql(
      "insert into session_members (session_id, user_id, relation) values ($1, $2, 'shared')",
      [session.sessionId, shared.id],
    );
    const guest: GuestPrincipal = {
      kind: "guest",
      id: newId(),
      role: "guest",
      sessionId: session.sessionId,
      displayName: "Gus",
      tokenId: newId(),
      expiresAt: Date.now() + 60_000,
    };
    const body = { summary_type: "brief" };
    for (const id of ["requestSummary", "listSummaries"]) {
      const codes = await Promise.all(
        [stranger, shared, admin, guest].map((principal) =>
          codeOf(callRoute(routes, id, { ...here(), principal, body })),
        ),
      );
      expect(codes).toEqual(["forbidden", "none", "elevation_required", "forbidden"]);
    }
    const { workspaceId } = session.device;
    const key = (scopes: Scope[], workspace = workspaceId): ServicePrincipal => ({
      kind: "service",
      makerId: newId(),
      id: newId(),
      secretId: newId(),
      workspaceId: workspace,
      scopes,
      expiresAt: Date.now() + 60_000,
    });
    const tried = (id: string, principal: ServicePrincipal) =>
      codeOf(callRoute(routes, id, { ...here(), principal, body }));
    expect(await tried("listSummaries", key(["sessions:read"]))).toBe("none");
    expect(await tried("requestSummary", key(["sessions:read"]))).toBe("forbidden");
    expect(await tried("requestSummary", key(["query"]))).toBe("none");
    expect(await tried("listSummaries", key(["sessions:read"], newId()))).toBe("not_found");
    const unknown = { params: { session_id: newId() }, principal: admin, body };
    expect(await codeOf(callRoute(routes, "listSummaries", unknown))).toBe("not_found");
    await work();
  });

  it("admins see jobs of all sessions, their text only with native access", async () => {
    const body = await call("listSummarisationJobs", {
      principal: admin,
      query: { session_id: session.sessionId, summary_type: "topics", status: "completed" },
    });
    const [job] = body.items as Record<string, unknown>[];
    expect(job).not.toHaveProperty("summary_text");
    const hidden = await detail(admin, job?.id);
    expect(hidden).toEqual({ ...job, summary_text: HIDDEN });
    const native = await fixture.user("admin");
    await fixture.sql(
      "insert into session_members (session_id, user_id, relation) values ($1, $2, 'participant')",
      [session.sessionId, native.id],
    );
    expect((await detail(native, job?.id)).summary_text).toContain("- launch (once, at 00:00)");
    const queued = await ask(native, "speakers");
    expect((await detail(native, queued.id)).summary_text).toBe("");
    await work();
    const page = await call("listSummarisationJobs", { principal: admin, query: { limit: 1 } });
    expect(page.items).toHaveLength(1);
    const next = await call("listSummarisationJobs", {
      principal: admin,
      query: { limit: 100, cursor: page.next_cursor },
    });
    expect(next.items).not.toContainEqual((page.items as unknown[])[0]);
    expect(await codeOf(detail(admin, newId()))).toBe("not_found");
  });

  it("go when words are redacted, and with the session", async () => {
    const { story, owner, sessionId } = session;
    const native = await fixture.user("admin");
    await fixture.sql(
      "insert into session_members (session_id, user_id, relation) values ($1, $2, 'participant')",
      [sessionId, native.id],
    );
    const [{ job_id } = {}] = await list();
    await story.tell([
      {
        type: "SpanRedacted",
        redactionId: newId(),
        from: 0,
        to: 80_000,
        segmentIds: [story.segmentId(0)],
        byUserId: owner.id,
      },
    ]);
    expect(await list()).toEqual([]);
    expect((await detail(native, job_id)).summary_text).toBe("[redacted-span]");
    await ask(owner, "brief");
    await work();
    expect(await list()).toHaveLength(1);
    const deletion = new PostgresSessionDeletion(fixture.pool, DELETION_PARTS);
    const actor = { kind: "system" as const };
    const done = await deletion.erase(sessionId, "account_erasure_session_redacted", actor);
    expect(done?.receipt.removed).toMatchObject({ summaries: 1 });
    expect(await fixture.sql("select 1 from summaries where session_id = $1", [sessionId])).toEqual(
      [],
    );
    expect((await detail(native, job_id)).summary_text).toBe("[redacted-account-erasure]");
    expect(await codeOf(ask(native, "brief"))).toBe("not_found");
    expect(await codeOf(ask(owner, "brief"))).toBe("not_found");
  });
});
