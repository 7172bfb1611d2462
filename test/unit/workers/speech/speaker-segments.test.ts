import { describe, expect, it } from "vitest";
import { splitAtTurns } from "../../../../workers/speech/speaker-segments.ts";

function word(text: string, start: number, end: number, confidence = 0.5) {
  return { text, start, end, confidence };
}

describe("speaker segments", () => {
  it("speaker segments: a word belongs to the turn that holds its middle", () => {
    const words = [word("one", 110, 200, 0.2), word("two", 200, 310, 0.4), word("three", 320, 400)];
    const turns = [
      { start: 100, end: 290, cluster: 0 },
      { start: 290, end: 500, cluster: 1 },
    ];
    const segments = splitAtTurns(100, words, turns);
    expect(segments.map(({ start, end, cluster }) => ({ start, end, cluster }))).toEqual([
      { start: 100, end: 310, cluster: 0 },
      { start: 310, end: 400, cluster: 1 },
    ]);
    expect(segments[0]?.words.map(({ text }) => text)).toEqual(["one", "two"]);
    expect(segments[0]?.confidence).toBeCloseTo(0.3);
  });

  it("speaker segments: turns without words vanish and their neighbours join", () => {
    const turns = [
      { start: 0, end: 100, cluster: 2 },
      { start: 100, end: 150, cluster: 1 },
      { start: 150, end: 300, cluster: 2 },
    ];
    const segments = splitAtTurns(0, [word("a", 10, 50), word("b", 200, 250)], turns);
    expect(segments).toHaveLength(1);
    expect(splitAtTurns(0, [], turns)).toEqual([]);
  });

  it("speaker segments: without turns the cluster is unknown", () => {
    expect(splitAtTurns(5, [word("a", 10, 50)], [])).toMatchObject([{ start: 5, cluster: -1 }]);
  });
});
