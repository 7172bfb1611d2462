import { describe, expect, it } from "vitest";
import type { RecognisedSegment } from "../../../src/session/command.ts";
import { giveUp, recorded, reread, wordsOf } from "../../support/late-session.ts";
import { SECOND, SessionBench } from "../../support/session-bench.ts";

const byUserId = "u";

function said(texts: readonly string[], start: number, end: number): RecognisedSegment {
  const length = (end - start) / texts.length;
  const words = texts.map((text, n) => {
    const at = start + n * length;
    return { text, start: at, end: at + length, confidence: 0.9 };
  });
  return { start, end, words, confidence: 0.9, cluster: 0 };
}

/** What has no room before `end` stands in the last sample before it. */
function squeezed(texts: readonly string[], end: number): RecognisedSegment {
  const [start, timesClamped] = [end - 1, true];
  const words = texts.map((text) => ({ text, start, end, confidence: 0.9, timesClamped }));
  return { start, end, words, confidence: 0.9, cluster: 0 };
}

function edit(bench: SessionBench, index: number): string {
  const segmentId = bench.state.segments[index]?.id ?? "";
  bench.run({ type: "EditSegment", segmentId, editId: "e", label: "", byUserId });
  return segmentId;
}

describe("late audio: sound that is longer than its place", () => {
  const END = 4 * SECOND;
  const long = [
    said(["a", "b"], 2 * SECOND, END),
    squeezed(["c", "d"], END),
    squeezed(["e"], END),
    squeezed(["f", "g"], END),
  ];

  /** The second chunk came late, with twice as much as its place holds; the fourth is missing still. */
  function readOnce(): SessionBench {
    const bench = recorded(5, [1, 3]);
    bench.chunk(1, 4);
    reread(bench, { sequences: [1], segments: long });
    expect(wordsOf(bench)).toEqual(["a", "b", "c", "d", "e", "f", "g"]);
    return bench;
  }

  it.each([0, 1, 2, 3])(
    "late audio: no word of it is lost or doubled when a person edited part %i of it",
    (part) => {
      const bench = readOnce();
      const edited = edit(bench, part);
      bench.chunk(3);
      const more = said(["x", "y"], 6 * SECOND, 8 * SECOND);
      reread(bench, { sequences: [3], segments: [...long, more] });
      expect(wordsOf(bench)).toEqual(["a", "b", "c", "d", "e", "f", "g", "x", "y"]);
      expect(bench.state.segments[part]?.id).toBe(edited);
    },
  );

  it("late audio: what was never read stands behind what a person edited in its place", () => {
    const bench = new SessionBench().start();
    bench.chunk(0);
    // Heard while it was streamed, before a gap was declared there.
    bench.utterance([said(["p", "q"], 1 * SECOND, 6 * SECOND)], 6 * SECOND);
    bench.chunk(2);
    bench.run({ type: "Stop", lastSequence: 2 });
    giveUp(bench);
    bench.run({ type: "RecognitionDone", attempt: 1, speakers: { segments: [], merges: [] } });
    const edited = edit(bench, 0);
    bench.chunk(1, 4);
    reread(bench, {
      sequences: [1],
      segments: [...long.slice(1), said(["z"], 7 * SECOND, 8 * SECOND)],
    });
    expect(wordsOf(bench)).toEqual(["p", "q", "c", "d", "e", "f", "g", "z"]);
    expect(bench.state.segments[0]?.id).toBe(edited);
  });
});
