import { describe, expect, it } from "vitest";
import type { RecognisedSegment } from "../../../src/session/command.ts";
import { fitSegments } from "../../../src/session/fit-segments.ts";

function segmentOf(...words: [start: number, end: number][]): RecognisedSegment {
  const [first, last] = [words[0], words.at(-1)];
  return {
    start: first?.[0] ?? 0,
    end: last?.[1] ?? 0,
    words: words.map(([start, end]) => ({ text: `w${start}`, start, end, confidence: 0.9 })),
    confidence: 0.9,
    cluster: 0,
  };
}

describe("fit segments", () => {
  it("late audio: a word that reaches into what is kept belongs where its middle lies, and ends there", () => {
    const kept = [{ start: 1_000, end: 2_000 }];
    const said = segmentOf([600, 1_100], [1_100, 1_900], [1_900, 2_400]);
    expect(fitSegments([said], { from: 0, to: 9_000, kept })).toMatchObject([
      { start: 600, end: 1_000, words: [{ text: "w600", start: 600, end: 1_000 }] },
      { start: 2_000, end: 2_400, words: [{ text: "w1900", start: 2_000, end: 2_400 }] },
    ]);
  });

  it("late audio: what touches nothing that is kept stays as it is", () => {
    const said = segmentOf([600, 1_000], [1_000, 1_400]);
    const kept = [{ start: 1_400, end: 2_000 }];
    expect(fitSegments([said], { from: 0, to: 9_000, kept })).toEqual([said]);
    expect(fitSegments([said], { from: 0, to: 1_200, kept: [] })).toEqual([
      segmentOf([600, 1_000]),
    ]);
  });
});
