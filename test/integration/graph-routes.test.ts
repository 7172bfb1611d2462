import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { GuestPrincipal, Principal, Scope } from "../../src/access/principal.ts";
import { AppError } from "../../src/base/errors.ts";
import { newId } from "../../src/base/ids.ts";
import { type GraphBody, GraphFixture } from "../support/graph-fixture.ts";
import { codeOf, jsonBody } from "../support/route-call.ts";

const LINES = [
  ["S1", "i will ask the team in berlin about the price"],
  ["S2", "the price is in the report"],
  ["S1", "we need a ticket to london"],
] as const;

const names = ({ entities }: GraphBody): string[] => entities.map(({ name }) => name);

function idOf(graph: GraphBody, name: string): string {
  const entity = graph.entities.find((each) => each.name === name);
  if (entity === undefined) throw new Error(`${name} is not among ${names(graph)}`);
  return entity.id;
}

describe("graph routes", () => {
  let fixture: GraphFixture;
  beforeAll(async () => {
    fixture = await GraphFixture.open();
  });
  afterAll(() => fixture.close());

  it("graph: a session's entities, relations and communities, made once", async () => {
    const { owner, sessionId } = await fixture.session(LINES);
    const before = fixture.extractions;
    const graph = await fixture.sessionGraph(owner, sessionId);
    expect(graph).toMatchObject({ stale: false, pending_sessions: 0, session_count: 1 });
    expect(names(graph)).toEqual(
      expect.arrayContaining(["S1", "S2", "berlin", "price", "report", "team", "london", "ticket"]),
    );
    expect(graph.entities.find(({ name }) => name === "price")).toMatchObject({
      type: "topic",
      mention_count: 2,
      session_count: 1,
    });
    const tie = { source_id: idOf(graph, "S1"), target_id: idOf(graph, "team") };
    expect(graph.relations).toContainEqual(
      expect.objectContaining({ ...tie, kind: "action", label: "ask", weight: 1 }),
    );
    const together = graph.communities.find(({ entity_ids }) =>
      entity_ids.includes(idOf(graph, "london")),
    );
    expect(together?.entity_ids).toContain(idOf(graph, "ticket"));
    expect(together?.entity_ids).not.toContain(idOf(graph, "report"));
    expect(await fixture.sessionGraph(owner, sessionId)).toEqual(graph);
    expect(fixture.extractions).toBe(before + 1);
  });

  it("graph: names nothing that was not heard clearly, until a person says so", async () => {
    const told = await fixture.session([["S1", "we need a ticket to [london?]"]]);
    const { owner, sessionId, segmentIds } = told;
    expect(names(await fixture.sessionGraph(owner, sessionId))).not.toContain("london");
    // The same words, written by a person.
    await fixture.fixture.sql(
      `update segments set words = (select jsonb_agg(word - 'unclear') from jsonb_array_elements(words) as said (word))
       where id = $1`,
      [segmentIds[0]],
    );
    await fixture.fixture.sql(
      "update graph_builds set seq = 0, built_at = now() - interval '1 minute'",
    );
    expect(names(await fixture.sessionGraph(owner, sessionId))).toContain("london");
  });

  it("graph: is narrowed by type, name, number of mentions, time and limit", async () => {
    const { owner, sessionId, workspaceId } = await fixture.session(LINES);
    const read = (query: Record<string, unknown>) => fixture.sessionGraph(owner, sessionId, query);
    expect(names(await read({ type: "place" })).sort()).toEqual(["berlin", "london"]);
    expect(names(await read({ type: "place,speaker" }))).toHaveLength(4);
    expect(names(await read({ q: "REPO" }))).toEqual(["report"]);
    expect(names(await read({ q: "%" }))).toEqual([]);
    expect(names(await read({ min_mentions: 2, type: "topic" }))).toEqual(["price"]);
    expect(names(await read({ from_ms: 100_000 })).sort()).toEqual(["S1", "london", "ticket"]);
    expect((await read({ to_ms: 10_000 })).relations.length).toBeGreaterThan(0);
    expect((await read({ from_ms: 500_000 })).relations).toEqual([]);
    const few = await read({ limit: 2 });
    expect(few.entities).toHaveLength(2);
    expect(few.total_entities).toBeGreaterThan(5);
    const all = (query: Record<string, unknown>) =>
      fixture.workspaceGraph(owner, workspaceId, query);
    expect(names(await all({ from: "2001-01-01T00:00:00Z" })).length).toBeGreaterThan(5);
    expect(names(await all({ to: "2001-01-01T00:00:00Z" }))).toEqual([]);
  });

  it("graph: sessions of a workspace join under one name; workspaces never mix", async () => {
    const one = await fixture.session(LINES);
    await fixture.fixture.stop(one.device);
    const second = await fixture.sessionOf(one.device, [["S1", "the price in berlin"]]);
    const other = await fixture.session([["S1", "the price in berlin and the secret"]]);
    const graph = await fixture.workspaceGraph(one.owner, one.workspaceId);
    expect(graph.session_count).toBe(2);
    const price = graph.entities.find(({ name }) => name === "price");
    expect(price).toMatchObject({ mention_count: 3, session_count: 2 });
    expect(names(graph).filter((name) => name === "S1")).toHaveLength(2);
    expect(names(graph)).not.toContain("secret");
    const theirs = await fixture.workspaceGraph(other.owner, other.workspaceId);
    expect(idOf(theirs, "price")).not.toBe(price?.id);
    const narrowed = { session_id: second.sessionId };
    expect(
      names(await fixture.workspaceGraph(one.owner, one.workspaceId, narrowed)).sort(),
    ).toEqual(["S1", "berlin", "price"]);
    const foreign = { session_id: other.sessionId };
    expect(await codeOf(fixture.workspaceGraph(one.owner, one.workspaceId, foreign))).toBe(
      "not_found",
    );
    const params = { id: one.workspaceId, entity_id: idOf(theirs, "secret") };
    const lookup = fixture.call("getGraphEntity", { principal: one.owner, params });
    expect(await codeOf(lookup)).toBe("not_found");
  });

  it("graph: a service key needs nothing but the scope to ask", async () => {
    const { sessionId, workspaceId } = await fixture.session(LINES);
    const key = (workspace: string, scope: Scope): Principal => {
      const rest = { secretId: newId(), expiresAt: Date.now() + 60_000 };
      return {
        kind: "service",
        id: newId(),
        makerId: newId(),
        workspaceId: workspace,
        scopes: [scope],
        ...rest,
      };
    };
    const graph = await fixture.workspaceGraph(key(workspaceId, "query"), workspaceId);
    expect(names(graph)).toContain("price");
    const params = { id: workspaceId, entity_id: idOf(graph, "price") };
    const detail = await fixture.call("getGraphEntity", {
      principal: key(workspaceId, "query"),
      params,
    });
    expect(jsonBody(detail)).toMatchObject({ items: [{ session_id: sessionId }, {}] });
    for (const [principal, code] of [
      [key(workspaceId, "export"), "forbidden"],
      [key(newId(), "query"), "not_found"],
    ] as const) {
      expect(await codeOf(fixture.workspaceGraph(principal, workspaceId))).toBe(code);
    }
  });

  it("graph: an entity shows its mentions with times and words, a page at a time", async () => {
    const { owner, sessionId, workspaceId, segmentIds } = await fixture.session(LINES);
    const graph = await fixture.sessionGraph(owner, sessionId);
    const params = { id: workspaceId, entity_id: idOf(graph, "price") };
    const call = async (query: Record<string, unknown>) =>
      jsonBody(await fixture.call("getGraphEntity", { principal: owner, params, query }));
    const first = await call({ limit: 1 });
    expect(first).toMatchObject({
      entity: { name: "price", mention_count: 2 },
      items: [
        {
          session_id: sessionId,
          segment_id: segmentIds[0],
          start_ms: 2_250,
          end_ms: 2_500,
          speaker_label: "S1",
          kind: "named",
          text: LINES[0][1],
        },
      ],
    });
    const neighbours = (first.neighbours as { name: string }[]).map(({ name }) => name);
    expect(neighbours).toEqual(expect.arrayContaining(["berlin", "report", "S1", "S2"]));
    const rest = await call({ limit: 1, cursor: first.next_cursor });
    expect(rest).toMatchObject({ items: [{ segment_id: segmentIds[1] }], next_cursor: null });
    expect(await codeOf(call({ cursor: "nonsense" }))).toBe("invalid_parameter");
  });

  it("graph: the path between two entities, with the segments that connect them", async () => {
    const { owner, sessionId, workspaceId, segmentIds } = await fixture.session(LINES);
    const graph = await fixture.sessionGraph(owner, sessionId);
    const path = async (from: string, to: string) =>
      jsonBody(
        await fixture.call("getGraphPath", {
          principal: owner,
          params: { id: workspaceId },
          query: { from, to },
        }),
      ) as { entities: { name: string }[]; steps: { segments: { segment_id: string }[] }[] };
    const found = await path(idOf(graph, "berlin"), idOf(graph, "report"));
    expect(found.entities.map(({ name }) => name)).toEqual(["berlin", "price", "report"]);
    expect(found.steps.map(({ segments }) => segments.map((each) => each.segment_id))).toEqual([
      [segmentIds[0]],
      [segmentIds[1]],
    ]);
    const self = await path(idOf(graph, "berlin"), idOf(graph, "berlin"));
    expect(self).toMatchObject({ entities: [{ name: "berlin" }], steps: [] });
    await fixture.fixture.sql("delete from graph_links where session_id = $1", [sessionId]);
    const none = await path(idOf(graph, "berlin"), idOf(graph, "report"));
    expect(none).toMatchObject({ entities: [], steps: [] });
    expect(await codeOf(path(idOf(graph, "berlin"), newId()))).toBe("not_found");
    expect(await codeOf(path("x", idOf(graph, "berlin")))).toBe("not_found");
  });

  it("graph: only for those who may read the words", async () => {
    const { owner, sessionId, workspaceId } = await fixture.session(LINES);
    const [stranger, member, moderator, admin] = [
      await fixture.fixture.user(),
      await fixture.fixture.user(),
      await fixture.fixture.user("moderator"),
      await fixture.fixture.user("admin"),
    ];
    await fixture.fixture.join(workspaceId, member.id);
    await fixture.fixture.join(workspaceId, moderator.id);
    expect(await codeOf(fixture.sessionGraph(stranger, sessionId))).toBe("forbidden");
    expect(await codeOf(fixture.workspaceGraph(stranger, workspaceId))).toBe("forbidden");
    expect(await codeOf(fixture.workspaceGraph(owner, newId()))).toBe("not_found");
    expect(await codeOf(fixture.workspaceGraph(owner, "x"))).toBe("not_found");
    expect(await codeOf(fixture.sessionGraph(member, sessionId))).toBe("forbidden");
    expect(names(await fixture.workspaceGraph(member, workspaceId))).toEqual([]);
    expect(names(await fixture.workspaceGraph(moderator, workspaceId))).toContain("berlin");
    expect(await codeOf(fixture.sessionGraph(admin, sessionId))).toBe("elevation_required");
    expect(await codeOf(fixture.workspaceGraph(admin, workspaceId))).toBe("elevation_required");
    await fixture.fixture.sql("update sessions set visibility = 'workspace' where id = $1", [
      sessionId,
    ]);
    expect(names(await fixture.workspaceGraph(member, workspaceId))).toContain("berlin");
    for (const route of fixture.routes) expect(route.roles).not.toContain("guest");
    const guest: GuestPrincipal = {
      kind: "guest",
      id: newId(),
      role: "guest",
      sessionId,
      displayName: "Gus",
      tokenId: newId(),
      expiresAt: Date.now() + 60_000,
    };
    const asGuest = fixture.call("getWorkspaceGraph", {
      principal: guest,
      params: { id: workspaceId },
    });
    expect(await codeOf(asGuest)).toBe("forbidden");
  });

  it("graph: an elevation opens what it covers, and each read is written down", async () => {
    const { sessionId, workspaceId, device } = await fixture.session(LINES);
    await fixture.fixture.stop(device);
    await fixture.sessionOf(device, [["S1", "the secret"]]);
    const admin = await fixture.fixture.user("admin");
    await fixture.fixture.sql(
      `insert into content_elevations (id, admin_id, session_id, reason, expires_at)
       values ($1, $2, $3, 'A reason for this test', now() + interval '1 hour')`,
      [newId(), admin.id, sessionId],
    );
    const graph = await fixture.workspaceGraph(admin, workspaceId);
    expect(names(graph)).toContain("berlin");
    expect(names(graph)).not.toContain("secret");
    const entries = await fixture.fixture.sql(
      "select session_id from audit_log where kind = 'content_read' and actor_id = $1",
      [admin.id],
    );
    expect(entries).toEqual([{ session_id: sessionId }]);
  });

  it("graph: notes that are made of a session meanwhile change nothing of it, other events may", async () => {
    const { owner, sessionId } = await fixture.session(LINES);
    await fixture.sessionGraph(owner, sessionId);
    const before = fixture.extractions;
    const append = async (type: string) => {
      await fixture.fixture.sql(
        `with next as (update sessions set seq = seq + 1 where id = $1 returning seq, epoch)
         insert into events (session_id, seq, epoch, at, type, payload)
         select $1, next.seq, next.epoch, now(), $2, '{}' from next`,
        [sessionId, type],
      );
    };
    await append("SummaryUpdated");
    await append("SummaryUpdated");
    expect(await fixture.sessionGraph(owner, sessionId)).toMatchObject({ stale: false });
    await append("SegmentRevised");
    await append("SummaryUpdated");
    expect(await fixture.sessionGraph(owner, sessionId)).toMatchObject({ stale: true });
    expect(fixture.extractions).toBe(before);
  });

  it("graph: without a worker it says so, and shows what there is", async () => {
    const { owner, sessionId, workspaceId, device } = await fixture.session(LINES);
    try {
      fixture.before = () => Promise.reject(new AppError("unavailable", "No worker."));
      expect(await codeOf(fixture.sessionGraph(owner, sessionId))).toBe("unavailable");
      fixture.before = async () => {};
      await fixture.sessionGraph(owner, sessionId);
      await fixture.fixture.stop(device);
      await fixture.sessionOf(device, [["S1", "the secret"]]);
      fixture.before = () => Promise.reject(new AppError("unavailable", "No worker."));
      expect(await fixture.workspaceGraph(owner, workspaceId)).toMatchObject({
        session_count: 1,
        pending_sessions: 1,
        stale: true,
      });
    } finally {
      fixture.before = async () => {};
    }
  });
});
