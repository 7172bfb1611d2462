import { describe, expect, it } from "vitest";
import { entityTag, isExpected, isKnown } from "../../../../src/http/server/preconditions.ts";

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

  it("are known in lists, as *, and as servers on the way change them that compress", () => {
    for (const tag of [entityTag(thing), entityTag(thing, ["seen"])]) {
      const weak = `W/${tag}`;
      const suffixed = ["gzip", "br", "zstd"].map((name) => tag.replace(/"$/, `-${name}"`));
      const lists = [`"x", ${tag}`, `${weak} ,"x"`, `"a,b",${tag}`, `W/"y",,${weak}`];
      for (const header of ["*", " * ", tag, weak, `W/${suffixed[0]}`, ...suffixed, ...lists]) {
        expect([isExpected(header, tag), isKnown(header, tag)], header).toEqual([true, true]);
      }
    }
  });

  it("are not known as others, cut short or without their quotes", () => {
    const tag = entityTag(thing);
    const others = ["", "x", '"x"', 'W/"x"', "W/", tag.replaceAll('"', ""), tag.slice(0, -1)];
    for (const header of [...others, tag.replace(/.{5}"$/, '"'), tag.replace(/"$/, '-x"')]) {
      expect([isExpected(header, tag), isKnown(header, tag)], header).toEqual([false, false]);
    }
  });
});
