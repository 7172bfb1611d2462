import { describe, expect, it } from "vitest";
import { equalError, figuresAt, highestFloor, separation } from "../../eval/floor-figures.ts";
import type { JudgedWord } from "../../eval/judged-words.ts";
import { fitLogistic } from "../../eval/logistic-regression.ts";
import { seededRandom } from "../../eval/made-conversation.ts";

const right = (...confidences: number[]): JudgedWord[] =>
  confidences.map((confidence) => ({ confidence, isRight: true }));
const wrong = (...confidences: number[]): JudgedWord[] =>
  confidences.map((confidence) => ({ confidence, isRight: false }));

describe("floor figures", () => {
  it("tell how much wrong is caught and how much right is lost", () => {
    const words = [...right(0.9, 0.8, 0.4, 0.7), ...wrong(0.1, 0.6)];
    expect(figuresAt(words, 0.5)).toEqual({
      words: 6,
      wrong: 2 / 6,
      caught: 1 / 2,
      lost: 1 / 4,
      wrongAbove: 1 / 4,
    });
    // What lies on the floor is above it.
    expect(figuresAt(right(0.5), 0.5).lost).toBe(0);
    expect(figuresAt([], 0.5)).toMatchObject({ words: 0, caught: 0, lost: 0 });
  });

  it("separation is the share of pairs in order, ties counted half", () => {
    expect(separation([...right(0.9), ...wrong(0.1)])).toBe(1);
    expect(separation([...right(0.1), ...wrong(0.9)])).toBe(0);
    expect(separation([...right(0.5, 0.9), ...wrong(0.5, 0.7)])).toBe(2.5 / 4);
    expect(separation(right(0.5))).toBeNaN();
  });

  it("the equal error is where both kinds of error meet", () => {
    const words = [...right(0.3, 0.6, 0.7, 0.8), ...wrong(0.1, 0.2, 0.4, 0.65)];
    expect(equalError(words)).toEqual({ floor: 0.6, rate: 0.25 });
  });

  it("the highest floor loses no more than is allowed", () => {
    const words = right(...Array.from({ length: 100 }, (_, n) => n / 100));
    expect(highestFloor(words, 0.05)).toBe(0.05);
    expect(figuresAt(words, 0.05).lost).toBe(0.05);
    expect(figuresAt(words, 0.06).lost).toBeGreaterThan(0.05);
  });
});

describe("logistic regression", () => {
  it("finds the weights that made the examples", () => {
    const random = seededRandom(1);
    const examples = Array.from({ length: 20_000 }, () => {
      const values = [2 * random() - 1, 20 * random() - 10];
      const sum = 0.5 + 2 * (values[0] ?? 0) - 0.3 * (values[1] ?? 0);
      return { values, isYes: random() < 1 / (1 + Math.exp(-sum)) };
    });
    const { constant, weights } = fitLogistic(examples);
    expect(constant).toBeCloseTo(0.5, 0);
    expect(weights[0]).toBeCloseTo(2, 0);
    expect(weights[1]).toBeCloseTo(-0.3, 1);
  });
});
