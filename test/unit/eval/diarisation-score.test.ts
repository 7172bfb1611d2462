import { describe, expect, it } from "vitest";
import { scoreDiarisation } from "../../eval/diarisation-score.ts";
import { MD_EVAL_CASES } from "./md-eval-cases.ts";

const turn = (speaker: string, start: number, end: number) => ({ speaker, start, end });

describe("diarisation score: errors", () => {
  it("finds none when only the names differ", () => {
    const reference = [turn("A", 0, 10), turn("B", 11, 20)];
    const score = scoreDiarisation(reference, [turn("x", 0, 10), turn("y", 11, 20)]);
    expect(score.errorRate).toBe(0);
    expect(score.scored).toBeCloseTo(9.5 + 8.5);
    expect([...score.mapping]).toEqual([
      ["x", "A"],
      ["y", "B"],
    ]);
  });

  it("forgives what lies within the collar of a reference boundary", () => {
    const score = scoreDiarisation([turn("A", 1, 5)], [turn("x", 0.8, 5.2)]);
    expect(score.errorRate).toBe(0);
  });

  it("tells missed speech, false alarms and confusion apart", () => {
    const reference = [turn("A", 0, 10), turn("B", 20, 30)];
    const hypothesis = [turn("x", 0, 6), turn("x", 12, 14), turn("y", 20, 26), turn("x", 26, 30)];
    const score = scoreDiarisation(reference, hypothesis, 0);
    expect(score.missed).toBeCloseTo(4);
    expect(score.falseAlarm).toBeCloseTo(2);
    expect(score.confusion).toBeCloseTo(4);
    expect(score.errorRate).toBeCloseTo(0.5);
  });

  it("counts overlapped speech once for each speaker", () => {
    const score = scoreDiarisation([turn("A", 0, 10), turn("B", 5, 10)], [turn("x", 0, 10)], 0);
    expect(score.scored).toBeCloseTo(15);
    expect(score.missed).toBeCloseTo(5);
    expect(score.confusion).toBe(0);
  });

  it("counts all as missed when nothing was said, and nothing when nobody spoke", () => {
    expect(scoreDiarisation([turn("A", 0, 4)], []).errorRate).toBe(1);
    expect(scoreDiarisation([], []).errorRate).toBe(0);
  });
});

describe("diarisation score: mapping", () => {
  it("is the best one to one, not the greedy one", () => {
    // x shares 6 s with A and 5 s with B, y shares 5 s with A only: x must give A to y.
    const reference = [turn("A", 0, 11), turn("B", 20, 25)];
    const hypothesis = [turn("x", 0, 6), turn("y", 6, 11), turn("x", 20, 25)];
    const { mapping, confusion } = scoreDiarisation(reference, hypothesis, 0);
    expect(mapping.get("x")).toBe("B");
    expect(mapping.get("y")).toBe("A");
    expect(confusion).toBeCloseTo(6);
  });

  it("leaves a hypothesis speaker without a partner unmapped", () => {
    const hypothesis = [turn("x", 0, 9), turn("y", 9, 10)];
    const { mapping, confusion } = scoreDiarisation([turn("A", 0, 10)], hypothesis, 0);
    expect(mapping.get("y")).toBeUndefined();
    expect(confusion).toBeCloseTo(1);
  });
});

describe("diarisation score: md-eval's figures", () => {
  it.each(MD_EVAL_CASES)("are ours, too: $what", ({ reference, hypothesis, printed }) => {
    const { mapping: _mapping, errorRate, ...parts } = scoreDiarisation(reference, hypothesis);
    const { rate, ...seconds } = printed;
    for (const [name, value] of Object.entries(seconds)) {
      expect(parts[name as keyof typeof parts], name).toBeCloseTo(value, 2);
    }
    expect(100 * errorRate).toBeCloseTo(rate, 1);
  });
});
