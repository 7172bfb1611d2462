import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { newId } from "../../src/base/ids.ts";
import { eraseGraph } from "../../src/conversations/questions/graph/build-store.ts";
import type { SpanRedacted } from "../../src/session/event.ts";
import { GraphFixture } from "../support/graph-fixture.ts";
import { codeOf } from "../support/route-call.ts";

const TABLES = ["graph_builds", "graph_entities", "graph_mentions", "graph_links"];

describe("graph: words that go", () => {
  let fixture: GraphFixture;
  beforeAll(async () => {
    fixture = await GraphFixture.open();
  });
  afterEach(() => {
    fixture.before = async () => {};
  });
  afterAll(() => fixture.close());

  async function rows(sessionId: string): Promise<number> {
    const counts = await Promise.all(
      TABLES.map((table) =>
        fixture.fixture.sql<{ count: number }>(
          `select count(*)::int as count from ${table} where session_id = $1`,
          [sessionId],
        ),
      ),
    );
    return counts.reduce((sum, [row]) => sum + (row?.count ?? 0), 0);
  }

  function redaction(sessionId: string, segmentId: string): SpanRedacted {
    return {
      type: "SpanRedacted",
      redactionId: newId(),
      from: 0,
      to: 16_000,
      segmentIds: [segmentId],
      byUserId: sessionId,
    };
  }

  const LINES = [
    ["S1", "the secret in berlin"],
    ["S2", "the report in london"],
  ] as const;

  it("erasure: a redaction takes the graph with it, and the next one lacks the words", async () => {
    const { owner, sessionId, story, segmentIds } = await fixture.session(LINES);
    await fixture.sessionGraph(owner, sessionId);
    expect(await rows(sessionId)).toBeGreaterThan(0);
    await story.tell([redaction(sessionId, segmentIds[0] ?? "")]);
    expect(await rows(sessionId)).toBe(0);
    const names = (await fixture.sessionGraph(owner, sessionId)).entities.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(["report", "london"]));
    expect(names).not.toContain("secret");
    expect(names).not.toContain("berlin");
  });

  it("erasure: a build that read the words before brings none of them back", async () => {
    const { owner, sessionId, story, segmentIds } = await fixture.session(LINES);
    let isFirst = true;
    fixture.before = async () => {
      if (isFirst) await story.tell([redaction(sessionId, segmentIds[0] ?? "")]);
      isFirst = false;
    };
    const names = (await fixture.sessionGraph(owner, sessionId)).entities.map(({ name }) => name);
    expect(names).toContain("report");
    expect(names).not.toContain("secret");
  });

  it("erasure: a session deleted meanwhile keeps no graph", async () => {
    const { owner, sessionId } = await fixture.session(LINES);
    fixture.before = async () => {
      await fixture.fixture.sql("update sessions set status = 'deleted' where id = $1", [
        sessionId,
      ]);
    };
    await fixture.sessionGraph(owner, sessionId);
    expect(await rows(sessionId)).toBe(0);
    expect(await codeOf(fixture.sessionGraph(owner, sessionId))).toBe("not_found");
  });

  it("erasure: one call takes everything, and only of that session", async () => {
    const one = await fixture.session(LINES);
    const other = await fixture.session(LINES);
    await fixture.sessionGraph(one.owner, one.sessionId);
    await fixture.sessionGraph(other.owner, other.sessionId);
    await fixture.fixture.pool.transaction((tx) => eraseGraph(tx, { id: one.sessionId }));
    expect(await rows(one.sessionId)).toBe(0);
    expect(await rows(other.sessionId)).toBeGreaterThan(0);
  });

  it("freshness: new words make a graph stale, and it is made again when it has aged", async () => {
    const { owner, sessionId, story } = await fixture.session(LINES);
    await fixture.sessionGraph(owner, sessionId);
    await story.say("S1", 16_000 * 600, "the price");
    const stale = await fixture.sessionGraph(owner, sessionId);
    expect(stale.stale).toBe(true);
    expect(stale.entities.map(({ name }) => name)).not.toContain("price");
    const age = "update graph_builds set built_at = now() - interval '1 minute'";
    await fixture.fixture.sql(`${age} where session_id = $1`, [sessionId]);
    const fresh = await fixture.sessionGraph(owner, sessionId);
    expect(fresh.stale).toBe(false);
    expect(fresh.entities.map(({ name }) => name)).toContain("price");
    const made = fixture.extractions;
    await fixture.fixture.sql("update sessions set seq = seq + 1 where id = $1", [sessionId]);
    await fixture.fixture.sql(`${age} where session_id = $1`, [sessionId]);
    expect((await fixture.sessionGraph(owner, sessionId)).stale).toBe(false);
    expect(fixture.extractions).toBe(made);
  });

  it("freshness: many callers at once share one build", async () => {
    const { owner, sessionId } = await fixture.session(LINES);
    const made = fixture.extractions;
    const graphs = await Promise.all(
      Array.from({ length: 8 }, () => fixture.sessionGraph(owner, sessionId)),
    );
    expect(fixture.extractions).toBe(made + 1);
    for (const graph of graphs) expect(graph).toEqual(graphs[0]);
  });

  it("freshness: a look at what stands already changes nothing, not even its time", async () => {
    const { owner, sessionId } = await fixture.session(LINES);
    const before = await fixture.sessionGraph(owner, sessionId);
    await fixture.builder.build(sessionId);
    expect(await fixture.sessionGraph(owner, sessionId)).toEqual(before);
  });

  it("freshness: a claimed voice becomes the person who claimed it", async () => {
    const { owner, sessionId, story } = await fixture.session(LINES);
    await story.tell([
      {
        type: "SpeakerClaimed",
        label: "S1",
        source: "self_claim",
        claimedUserId: owner.id,
        byUserId: owner.id,
      },
    ]);
    const { entities } = await fixture.sessionGraph(owner, sessionId);
    expect(entities).toContainEqual(
      expect.objectContaining({
        name: "Olga Owner",
        type: "speaker",
        speaker_labels: [{ session_id: sessionId, speaker_label: "S1" }],
      }),
    );
  });
});
