import { describe, expect, it } from "vitest";
import { interleave, medianRatio } from "../../bench/rounds.ts";
import { growthExponent, median, quantile } from "../../bench/statistics.ts";

describe("figures of the bench", () => {
  it("takes quantiles and medians of unsorted values", () => {
    const values = Array.from({ length: 100 }, (_, i) => ((i * 37) % 100) + 1);
    expect([quantile(values, 0.5), quantile(values, 0.99), quantile(values, 1)]).toEqual([
      50, 99, 100,
    ]);
    expect([median([3, 1, 2]), median([4, 1, 3, 2])]).toEqual([2, 2.5]);
    expect(quantile([], 0.5)).toBeNaN();
  });

  it("finds the exponent of growth", () => {
    const grown = (power: number) =>
      growthExponent([1, 4, 16].map((work) => ({ work, cost: 3 * work ** power })));
    expect(grown(1)).toBeCloseTo(1);
    expect(grown(0)).toBeCloseTo(0);
    expect(grown(1.5)).toBeCloseTo(1.5);
  });

  it("calls contenders in turn and leaves the first round out", async () => {
    const calls: string[] = [];
    const contender = (name: string) => async () => calls.push(name);
    const figures = await interleave(2, { a: contender("a"), b: contender("b") });
    expect(calls.join("")).toBe("ababab");
    expect(figures).toEqual({ a: [3, 5], b: [4, 6] });
  });

  it("compares within a round", () => {
    expect(medianRatio([10, 100, 30], [1, 50, 10])).toBe(3);
  });
});
