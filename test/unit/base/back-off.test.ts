import { describe, expect, it } from "vitest";
import { backOff } from "../../../src/base/back-off.ts";

const waitsAfter = (failures: readonly number[], waits: Parameters<typeof backOff>[1]) =>
  failures.map((times) => backOff(times, waits));

describe("back-off", () => {
  it("doubles from the first wait up to the longest, however many failures there were", () => {
    const waits = { firstMs: 200, mostMs: 1_000 };
    expect(waitsAfter([1, 2, 3, 4, 5], waits)).toEqual([200, 400, 800, 1_000, 1_000]);
    expect(waitsAfter([2_000], waits)).toEqual([1_000]);
  });

  it("grows by another factor, and without a bound where none is given", () => {
    expect(waitsAfter([1, 2, 3, 6], { firstMs: 1_000, factor: 4 })).toEqual([
      1_000, 4_000, 16_000, 1_024_000,
    ]);
  });

  it("adds by chance up to the spread, also to the longest wait", () => {
    const waits = { firstMs: 200, mostMs: 300, spreadMs: 100 };
    expect(backOff(1, waits, () => 0)).toBe(200);
    expect(backOff(2, waits, () => 0.5)).toBe(350);
  });

  it("leaves chance out where nobody gives it", () => {
    expect(backOff(1, { firstMs: 200, spreadMs: 100 })).toBe(200);
  });
});
