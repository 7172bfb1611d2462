import { describe, expect, it } from "vitest";
import type { Entity, Relation } from "../../../src/web/api/records.ts";
import {
  entityName,
  placeEntities,
  radiusOf,
  shortened,
  tiesOf,
} from "../../../src/web/views/graph/graph-layout.ts";

function entity(id: string, mentions: number, name = id): Entity {
  return {
    id,
    name,
    type: "topic",
    aliases: [],
    mention_count: mentions,
    session_count: 1,
    first_mentioned_at: "2026-01-01T00:00:00.000Z",
    last_mentioned_at: "2026-01-01T00:00:00.000Z",
  };
}

function relation(source: string, target: string, weight = 1): Relation {
  return {
    source_id: source,
    target_id: target,
    kind: "co_occurrence",
    weight,
    evidence: [],
    first_at: "2026-01-01T00:00:00.000Z",
    last_at: "2026-01-01T00:00:00.000Z",
  };
}

const SIZE = { width: 360, height: 420 };

describe("graph layout", () => {
  it("graph layout: relations of two entities are one tie, whatever their direction", () => {
    const entities = [entity("a", 1), entity("b", 1)];
    const relations = [
      relation("b", "a", 2),
      relation("a", "b", 0.5),
      relation("a", "a"),
      relation("a", "elsewhere"),
    ];
    expect(tiesOf(entities, relations)).toEqual([{ source: "a", target: "b", weight: 2.5 }]);
  });

  it("graph layout: the area of a circle grows with its mentions", () => {
    expect(radiusOf(8, 8)).toBeGreaterThan(radiusOf(4, 8));
    expect(radiusOf(4, 8)).toBeGreaterThan(radiusOf(1, 8));
    expect(radiusOf(0, 0)).toBe(radiusOf(0, 8));
  });

  it("graph layout: everything is inside, and stands where it stood before", () => {
    const entities = Array.from({ length: 60 }, (_, n) => entity(`e${n}`, 1 + (n % 9)));
    const relations = entities.slice(1).map(({ id }, n) => relation(`e${n}`, id));
    const ties = tiesOf(entities, relations);
    const placed = placeEntities(entities, ties, SIZE);
    for (const { x, y, radius } of placed) {
      expect(x - radius).toBeGreaterThanOrEqual(0);
      expect(x + radius).toBeLessThanOrEqual(SIZE.width);
      expect(y - radius).toBeGreaterThanOrEqual(0);
      expect(y + radius).toBeLessThanOrEqual(SIZE.height);
    }
    expect(placeEntities(entities, ties, SIZE)).toEqual(placed);
  });

  it("graph layout: a label that has no room gives way to the one of more mentions", () => {
    const entities = Array.from({ length: 120 }, (_, n) =>
      entity(`e${n}`, n === 7 ? 50 : 1, `a rather long name ${n}`),
    );
    const placed = placeEntities(entities, [], SIZE);
    const labels = placed.filter(({ hasRoom }) => hasRoom);
    expect(labels.length).toBeGreaterThan(0);
    expect(labels.length).toBeLessThan(entities.length);
    expect(labels.map((each) => each.entity.id)).toContain("e7");
    for (const { labelX } of placed) expect(labelX).toBeGreaterThan(40);
  });

  it("graph layout: a voice without a name is called as in the words", () => {
    expect(entityName({ name: "S2", type: "speaker" })).toBe("Speaker 2");
    expect(entityName({ name: "S2", type: "topic" })).toBe("S2");
    expect(entityName({ name: "Ada", type: "speaker" })).toBe("Ada");
  });

  it("graph layout: nothing at all, and one alone", () => {
    expect(placeEntities([], [], SIZE)).toEqual([]);
    expect(placeEntities([entity("a", 3)], [], SIZE)).toHaveLength(1);
  });

  it("graph layout: long names are cut between letters", () => {
    expect(shortened("short")).toBe("short");
    const cut = shortened("😀".repeat(40));
    expect([...cut]).toHaveLength(22);
    expect(cut.endsWith("😀…")).toBe(true);
  });
});
