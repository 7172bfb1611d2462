import { describe, expect, it } from "vitest";
import { splitAtTurns } from "../../../../workers/speech/speaker-segments.ts";

function word(text: string, start: number, end: number, confidence = 0.5) {
  return { text, start, end, confidence };
}

describe("speaker segments", () => {
  it("speaker segments: a word belongs to the turn that holds its middle", () => {
    const words = [word("one", 110, 200, 0.2), word("two", 200, 310, 0.4), word("three", 320, 400)];
    const turns = [
      { start: 100, end: 290, cluster: 0, confidence: 0.5 },
      { start: 290, end: 500, cluster: 1, confidence: 0.5 },
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
      { start: 0, end: 100, cluster: 2, confidence: 0.5 },
      { start: 100, end: 150, cluster: 1, confidence: 0.5 },
      { start: 150, end: 300, cluster: 2, confidence: 0.5 },
    ];
    const segments = splitAtTurns(0, [word("a", 10, 50), word("b", 200, 250)], turns);
    expect(segments).toHaveLength(1);
    expect(splitAtTurns(0, [], turns)).toEqual([]);
  });

  it("speaker segments: without turns the cluster is unknown", () => {
    expect(splitAtTurns(5, [word("a", 10, 50)], [])).toMatchObject([{ start: 5, cluster: -1 }]);
  });

  it("speaker segments: a segment's speaker is as sure as its words' turns, and unknown tells nothing", () => {
    const turns = [
      { start: 0, end: 100, cluster: 2, confidence: 0.9 },
      { start: 100, end: 150, cluster: 1, confidence: 0.1 },
      { start: 150, end: 300, cluster: 2, confidence: 0.6 },
      { start: 300, end: 400, cluster: -1, confidence: 0 },
      { start: 400, end: 500, cluster: 3, confidence: 0 },
    ];
    const words = [
      word("a", 10, 40),
      word("b", 40, 80),
      word("c", 200, 250),
      word("d", 310, 350),
      word("e", 410, 450),
    ];
    const [first, second, third] = splitAtTurns(0, words, turns);
    expect(first?.speakerConfidence).toBeCloseTo(0.8);
    expect(second?.cluster).toBe(-1);
    expect(second?.speakerConfidence).toBeUndefined();
    expect(third).toMatchObject({ cluster: 3 });
    expect(third?.speakerConfidence).toBeUndefined();
  });

  it("speaker segments: who else speaks is told within the segment, and not of its own voice", () => {
    const overlaps = [
      { start: 60, end: 95, cluster: 1 },
      { start: 96, end: 99, cluster: 0 },
    ];
    const turns = [
      { start: 0, end: 100, spokenTo: 90, cluster: 0, confidence: 1, overlaps },
      { start: 100, end: 200, cluster: 1, confidence: 1 },
    ];
    const words = [word("a", 10, 80), word("b", 110, 150)];
    expect(splitAtTurns(0, words, turns).map((segment) => segment.overlaps)).toEqual([
      [{ start: 60, end: 90, cluster: 1 }],
      [],
    ]);
  });

  it("speaker segments: a segment ends with its voice, of which words may be missing", () => {
    const turns = [
      { start: 0, end: 20_000, spokenTo: 15_000, cluster: 0, confidence: 0.5 },
      { start: 20_000, end: 40_000, spokenTo: 33_000, cluster: 1, confidence: 0.5 },
    ];
    const words = [word("a", 10, 9000), word("b", 21_000, 34_000)];
    const segments = splitAtTurns(0, words, turns);
    expect(segments.map(({ start, end }) => [start, end])).toEqual([
      [0, 15_000],
      [20_000, 34_000],
    ]);
  });

  it("speaker segments: a short pause between segments of one speaker is a part of the speech", () => {
    const turn = { cluster: 4, confidence: 0.5 };
    const turns = [
      { ...turn, start: 0, end: 20_000, spokenTo: 15_000 },
      { ...turn, start: 20_000, end: 50_000, spokenTo: 30_000 },
      { ...turn, start: 50_000, end: 60_000, spokenTo: 55_000 },
    ];
    const words = [word("a", 10, 9000), word("b", 21_000, 29_000), word("c", 50_000, 52_000)];
    expect(splitAtTurns(0, words, turns).map(({ end }) => end)).toEqual([20_000, 30_000, 55_000]);
    const strangers = turns.map((each) => ({ ...each, cluster: -1 }));
    expect(splitAtTurns(0, words, strangers).map(({ end }) => end)).toEqual([
      15_000, 30_000, 55_000,
    ]);
  });
});
