import { describe, expect, it } from "vitest";
import { wordTimes } from "../../../../../workers/speech/moonshine/word-times.ts";

const SECOND = 16_000;

/** A tone where it is loud, a faint hiss elsewhere; spans in seconds. */
function sound(seconds: number, ...loud: [number, number][]): Int16Array {
  return Int16Array.from({ length: seconds * SECOND }, (_, at) => {
    const isLoud = loud.some(([from, to]) => at >= from * SECOND && at < to * SECOND);
    return isLoud ? 8_000 * Math.sin(at / 5) : ((at * 7_919) % 21) - 10;
  });
}

describe("word times", () => {
  it("share the sound by letters, in order, inside it and without overlap", () => {
    const spans = wordTimes(sound(2, [0.25, 1.75]), ["one", "three", "seven"]);
    expect(spans[0]?.start).toBeCloseTo(0.25 * SECOND, -3);
    expect(spans.at(-1)?.end).toBeCloseTo(1.75 * SECOND, -3);
    for (const [at, { start, end }] of spans.entries()) {
      expect(end).toBeGreaterThan(start);
      expect(start).toBeGreaterThanOrEqual(spans[at - 1]?.end ?? 0);
    }
  });

  it("a pause lies between the words whose letters fit, rather behind a sentence mark", () => {
    const spans = wordTimes(sound(3, [0.3, 1.1], [1.7, 2.6]), [
      "Hello",
      "there.",
      "Good",
      "morning",
    ]);
    expect(spans[1]?.end).toBeCloseTo(1.1 * SECOND, -3);
    expect(spans[2]?.start).toBeCloseTo(1.7 * SECOND, -3);
  });

  it("words stay inside sound without any level", () => {
    const spans = wordTimes(new Int16Array(SECOND), ["a", "b"]);
    expect(spans.every(({ start, end }) => start >= 0 && end <= SECOND && end >= start)).toBe(true);
    expect(wordTimes(new Int16Array(SECOND), [])).toEqual([]);
  });
});
