import { describe, expect, it } from "vitest";
import { entityTag, isExpected, isKnown } from "../../../src/front/entity-tag.ts";

const thing = { id: "1", name: "a", seen: 1 };

describe("entity tags", () => {
  it("are equal for equal things only, and quoted as HTTP wants them", () => {
    expect(entityTag(thing)).toBe(entityTag({ ...thing }));
    expect(entityTag(thing)).not.toBe(entityTag({ ...thing, name: "b" }));
    expect(entityTag(thing)).toMatch(/^"[\w-]{22}"$/);
    expect(entityTag(thing, ["seen"])).toMatch(/^"[\w-]{22}\.[\w-]{22}"$/);
    expect(entityTag({ ...thing, gone: undefined })).toBe(entityTag(thing));
  });

  it("hold an edit against what edits change, a reader's copy against all", () => {
    const before = entityTag(thing, ["seen"]);
    const seen = entityTag({ ...thing, seen: 2 }, ["seen"]);
    expect([isExpected(before, seen), isKnown(before, seen)]).toEqual([true, false]);
    const renamed = entityTag({ ...thing, name: "b" }, ["seen"]);
    expect(isExpected(before, renamed)).toBe(false);
  });

  it("take lists and *, compare strongly for edits and weakly for reads", () => {
    const tag = entityTag(thing);
    for (const header of ["*", tag, `"x", ${tag}`]) {
      expect([isExpected(header, tag), isKnown(header, tag)]).toEqual([true, true]);
    }
    expect([isExpected(`W/${tag}`, tag), isKnown(`W/${tag}`, tag)]).toEqual([false, true]);
    for (const header of ["", "x", '"x"', tag.replaceAll('"', "")]) {
      expect([isExpected(header, tag), isKnown(header, tag)]).toEqual([false, false]);
    }
  });
});
