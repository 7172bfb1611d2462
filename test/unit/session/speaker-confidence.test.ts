import { describe, expect, it } from "vitest";
import type { RecognisedSegment } from "../../../src/session/command.ts";
import { GAP_WAIT } from "../../../src/session/decide-audio.ts";
import { SECOND, SessionBench, segment } from "../../support/session-bench.ts";

function sure(from: number, to: number, cluster: number, confidence?: number): RecognisedSegment {
  return { ...segment(from * SECOND, to * SECOND, cluster), speakerConfidence: confidence };
}

/** Two voices, a stretch of an unknown one, and one of which the worker tells nothing. */
function heard(): SessionBench {
  const bench = new SessionBench().start();
  for (let sequence = 0; sequence < 4; sequence++) bench.chunk(sequence);
  const segments = [sure(0, 1, 0, 0.9), sure(2, 3, 1, 0.4), sure(4, 5, -1, 0.3), sure(6, 7, 0)];
  bench.utterance(segments, 8 * SECOND);
  return bench;
}

describe("speaker confidence", () => {
  it("speaker confidence: stands in the event and beside the words; unknown speakers have none", () => {
    const bench = heard();
    const expected = [0.9, 0.4, undefined, undefined];
    expect(bench.of("SegmentFinalised").map((event) => event.speakerConfidence)).toEqual(expected);
    const texts = bench.writes.filter((write) => write.type === "SegmentText");
    expect(texts.map(({ speakerConfidence }) => speakerConfidence)).toEqual(expected);
    expect(JSON.stringify(bench.of("SegmentFinalised")[3])).not.toContain("speakerConfidence");
  });

  it("speaker confidence: a redo brings its own", () => {
    const bench = heard();
    bench.run({ type: "Stop", lastSequence: 3 });
    const done = { segments: [], merges: [] };
    bench.run({ type: "RecognitionDone", attempt: 1, speakers: done });
    bench.run({ type: "Redo", byUserId: "u" });
    bench.writes.length = 0;
    bench.run({
      type: "Reread",
      attempt: 2,
      whole: true,
      from: 0,
      to: Number.MAX_SAFE_INTEGER,
      sequences: [],
      segments: [sure(0, 1, 5, 0.7), sure(2, 3, 6), sure(4, 5, -1, 0.2)],
    });
    const texts = bench.writes.filter((write) => write.type === "SegmentText");
    expect(texts.map(({ label, speakerConfidence }) => [label, speakerConfidence])).toEqual([
      ["S1", 0.7],
      ["S2", undefined],
      ["UU", undefined],
    ]);
  });

  it("speaker confidence: in late audio only where the label is that of the voice", () => {
    const bench = new SessionBench().start();
    bench.chunk(0);
    bench.chunk(2);
    bench.now += GAP_WAIT;
    bench.run({ type: "GapTimeout", sequence: 1 });
    bench.utterance([sure(0, 1, 0, 0.9), sure(4, 6, 1, 0.8)], 6 * SECOND);
    bench.run({ type: "Stop", lastSequence: 2 });
    bench.run({ type: "RecognitionDone", attempt: 1, speakers: { segments: [], merges: [] } });
    bench.chunk(1);
    bench.writes.length = 0;
    bench.run({
      type: "Reread",
      whole: false,
      from: 2 * SECOND,
      to: 6 * SECOND,
      sequences: [1],
      // Cluster 0 is the first voice. Most of the last segment was the second voice's before,
      // although the new reading hears a third one there.
      segments: [sure(2, 3, 0, 0.7), sure(3, 4, 8, 0.6), sure(4, 5, 8, 0.55), sure(5, 6, 9, 0.5)],
      voices: { 0: 0 },
    });
    const texts = bench.writes.filter((write) => write.type === "SegmentText");
    expect(texts.map(({ label, speakerConfidence }) => [label, speakerConfidence])).toEqual([
      ["S1", 0.7],
      ["S2", 0.6],
      ["S2", 0.55],
      ["S2", undefined],
    ]);
  });
});
