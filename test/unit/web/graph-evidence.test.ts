import { describe, expect, it } from "vitest";
import type { Graph, Relation } from "../../../src/web/api/records.ts";
import { evidenceIn, momentsIn, voiceName } from "../../../src/web/views/graph/evidence.ts";

const AT = "2026-01-01T00:00:00.000Z";

function relation(source: string, target: string, weight: number, starts: number[]): Relation {
  return {
    source_id: source,
    target_id: target,
    kind: "co_occurrence",
    weight,
    first_at: AT,
    last_at: AT,
    evidence: starts.map((start_ms) => ({
      segment_id: `at ${start_ms}`,
      session_id: "s",
      speaker_label: "S1",
      start_ms,
      end_ms: start_ms + 500,
    })),
  };
}

function graphOf(relations: Relation[], ...ids: string[]): Graph {
  return {
    relations,
    entities: ids.map((id) => ({
      id,
      name: id,
      type: "topic",
      aliases: [],
      mention_count: 1,
      session_count: 1,
      first_mentioned_at: AT,
      last_mentioned_at: AT,
    })),
    communities: [],
    pending_sessions: 0,
    session_count: 1,
    stale: false,
    total_entities: ids.length,
  };
}

describe("graph evidence", () => {
  it("graph evidence: an entity's own relations, the strongest first, with their other ends", () => {
    const weak = relation("a", "b", 1, []);
    const strong = relation("c", "a", 3, []);
    const graph = graphOf([weak, relation("b", "c", 9, []), strong], "a", "b", "c", "d");
    const { relations, neighbours } = evidenceIn(graph, "a");
    expect(relations).toEqual([strong, weak]);
    expect(neighbours.map(({ id }) => id)).toEqual(["b", "c"]);
    expect(evidenceIn(graph, "d")).toEqual({ relations: [], neighbours: [] });
  });

  it("graph evidence: a segment that several relations rest on is one moment, in time's order", () => {
    const found = momentsIn([relation("a", "b", 1, [900, 100]), relation("a", "c", 1, [100, 500])]);
    expect(found.map(({ start_ms }) => start_ms)).toEqual([100, 500, 900]);
  });

  it("graph evidence: voices are called as in the words, and those not told apart not at all", () => {
    expect([voiceName("S3"), voiceName("UU")]).toEqual(["Speaker 3", ""]);
  });
});
