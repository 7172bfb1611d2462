import { describe, expect, it } from "vitest";
import { parseTimes } from "../../eval/bare-engine.ts";
import { textTable } from "../../eval/text-table.ts";
import { compareTimes } from "../../eval/word-times.ts";

describe("eval: the engine's output", () => {
  it("gives words with times, without fillers, hypotheses and pronunciation numbers", () => {
    const printed = [
      "good morning 3 0.5",
      "<s> 0.000 0.520 1.000200",
      "good(2) 0.530 0.670 0.332363",
      "<sil> 1.680 1.960 0.996306",
      "[NOISE] 1.970 2.000 0.5",
      "o'clock 2.010 2.310 0.953319",
      "",
    ].join("\n");
    expect(parseTimes(printed)).toEqual([
      { word: "good", start: 0.53, end: 0.67 },
      { word: "o'clock", start: 2.01, end: 2.31 },
    ]);
  });
});

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
