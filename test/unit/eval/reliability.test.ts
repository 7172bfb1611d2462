import { describe, expect, it } from "vitest";
import { calibrationError, reliability } from "../../eval/reliability.ts";

/** `count` words told `confidence`, of which `right` are right. */
function told(confidence: number, count: number, right: number) {
  return Array.from({ length: count }, (_, at) => ({ confidence, isRight: at < right }));
}

describe("reliability", () => {
  it("reliability: each tenth tells how many of its words are right", () => {
    const bins = reliability([...told(0.25, 4, 1), ...told(0.8, 10, 8), ...told(1, 1, 1)]);
    expect(bins).toEqual([
      { from: 0.2, words: 4, told: 0.25, right: 0.25 },
      { from: 0.8, words: 10, told: expect.closeTo(0.8), right: 0.8 },
      { from: 0.9, words: 1, told: 1, right: 1 },
    ]);
  });

  it("reliability: the calibration error weighs each tenth by its words", () => {
    expect(calibrationError([...told(0.8, 10, 8), ...told(0.25, 4, 1)])).toBeCloseTo(0);
    expect(calibrationError([...told(0.9, 30, 15), ...told(0.5, 10, 5)])).toBeCloseTo(0.3);
    expect(calibrationError([])).toBe(0);
  });
});
