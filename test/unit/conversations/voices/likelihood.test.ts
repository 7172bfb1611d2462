import { expect, it } from "vitest";
import { likelihoodsOf } from "../../../../src/conversations/voices/suggester.ts";

it("likelihoods: sum up to one with that of nobody, and take more evidence among more people", () => {
  expect(likelihoodsOf([])).toEqual([]);
  expect(likelihoodsOf([0])).toEqual([0.5]);
  const [alone = 0] = likelihoodsOf([3]);
  const [among = 0, ...others] = likelihoodsOf([3, ...new Array<number>(49).fill(-3)]);
  expect(alone).toBeGreaterThan(0.95);
  expect(among).toBeLessThan(0.4);
  expect(among + others.reduce((sum, each) => sum + each, 0)).toBeLessThan(1);
});

it("likelihoods: two who sound alike share what one would have", () => {
  const [one = 0, other = 0] = likelihoodsOf([6, 6]);
  expect(one).toBe(other);
  expect(one).toBeLessThan(0.5);
});

it("likelihoods: prints that cannot be compared have none, and no evidence is beyond bounds", () => {
  expect(likelihoodsOf([Number.NEGATIVE_INFINITY])).toEqual([0]);
  const [sure = 0, none] = likelihoodsOf([10_000, Number.NEGATIVE_INFINITY]);
  expect(sure).toBeCloseTo(1, 6);
  expect(none).toBe(0);
});
