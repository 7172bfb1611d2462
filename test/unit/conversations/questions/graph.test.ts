import { describe, expect, it } from "vitest";
import { findCommunities } from "../../../../src/conversations/questions/graph/communities.ts";
import { shortestPath } from "../../../../src/conversations/questions/graph/entity-routes.ts";
import type {
  EntityRecord,
  GraphEdge,
  RelationRecord,
} from "../../../../src/conversations/questions/graph/records.ts";

function entity(id: string): EntityRecord {
  const counts = { mentionCount: 1, sessionCount: 1, firstAt: 0, lastAt: 0 };
  return { id, type: "topic", name: id, aliases: [], labels: [], ...counts };
}

function relation(sourceId: string, targetId: string, weight = 1): RelationRecord {
  const rest = { label: "", firstAt: 0, lastAt: 0, evidence: [] };
  return { sourceId, targetId, kind: "co_occurrence", weight, ...rest };
}

/** Groups of `size` in which everything is tied, and one tie from each to the next. */
function clusters(count: number, size: number) {
  const ids = Array.from({ length: count * size }, (_, index) => `e${index}`);
  const relations = ids.flatMap((one, index) =>
    ids
      .slice(index + 1)
      .filter((_, at) => Math.floor((index + 1 + at) / size) === Math.floor(index / size))
      .map((other) => relation(one, other, 3)),
  );
  for (let group = 1; group < count; group += 1) {
    relations.push(relation(`e${(group - 1) * size}`, `e${group * size}`, 1));
  }
  return { entities: ids.map(entity), relations };
}

describe("graph: communities", () => {
  it("finds what hangs together and leaves out what nothing ties", () => {
    const { entities, relations } = clusters(4, 5);
    const found = findCommunities([...entities, entity("alone")], relations);
    expect(found.map(({ entityIds }) => entityIds.length)).toEqual([5, 5, 5, 5]);
    for (const { entityIds, label } of found) {
      expect(new Set(entityIds.map((id) => Math.floor(Number(id.slice(1)) / 5))).size).toBe(1);
      expect(label.split(", ")).toHaveLength(3);
    }
    expect(findCommunities([], [])).toEqual([]);
    expect(findCommunities([entity("a"), entity("b")], [])).toEqual([]);
  });

  it("is the same every time, in whatever order things come", () => {
    const { entities, relations } = clusters(12, 6);
    const ids = (found: ReturnType<typeof findCommunities>) => found.map(({ id }) => id);
    const first = ids(findCommunities(entities, relations));
    for (let turn = 0; turn < 10; turn += 1) {
      expect(ids(findCommunities(entities, relations))).toEqual(first);
      expect(ids(findCommunities(entities.toReversed(), relations.toReversed()))).toEqual(first);
    }
  });

  it("takes a graph of the largest size within a blink", () => {
    const { entities, relations } = clusters(50, 10);
    // Of the processor: what else runs here does not count.
    const begun = process.threadCpuUsage();
    findCommunities(entities, relations.slice(0, 1_000));
    const { user, system } = process.threadCpuUsage(begun);
    expect((user + system) / 1_000).toBeLessThan(1_000);
  });
});

describe("graph: path", () => {
  const edge = (sourceId: string, targetId: string, weight = 1): GraphEdge => ({
    sourceId,
    targetId,
    weight,
  });

  it("takes the fewest steps, then the strongest ties", () => {
    const edges = [
      edge("a", "b", 9),
      edge("b", "c", 9),
      edge("c", "d", 9),
      edge("a", "x"),
      edge("x", "d"),
      edge("a", "y", 5),
      edge("y", "d", 5),
    ];
    expect(shortestPath(edges, "a", "d")).toEqual(["a", "y", "d"]);
    expect(shortestPath(edges, "d", "a")).toEqual(["d", "y", "a"]);
  });

  it("is empty when nothing connects them, and short to itself", () => {
    expect(shortestPath([edge("a", "b")], "a", "z")).toEqual([]);
    expect(shortestPath([], "a", "a")).toEqual(["a"]);
  });
});
