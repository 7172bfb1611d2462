import { describe, expect, it } from "vitest";
import { textTable } from "../../eval/text-table.ts";
import { compareTimes } from "../../eval/word-times.ts";

describe("eval: word times", () => {
  const word = (name: string, start: number) => ({ word: name, start, end: start + 0.2 });

  it("compares the middles of the words that both have", () => {
    const expected = [word("a", 1), word("b", 2), word("c", 3), word("d", 4)];
    const found = [word("a", 1.05), word("x", 2), word("c", 3.06), word("d", 4)];
    expect(compareTimes(expected, found)).toEqual({ compared: 3, within: 2 / 3, median_ms: 50 });
  });

  it("says nothing where there is nothing to compare", () => {
    expect(compareTimes([word("a", 1)], [])).toBeUndefined();
    expect(compareTimes([word("a", 1)], [word("b", 1)])).toBeUndefined();
  });
});

describe("eval: tables", () => {
  it("aligns columns and takes rows of different length", () => {
    expect(textTable([["name", "n"], ["a", "10"], ["longer"]])).toBe(
      ["name     n", "a       10", "longer"].join("\n"),
    );
  });
});
