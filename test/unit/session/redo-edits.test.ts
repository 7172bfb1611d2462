import { describe, expect, it } from "vitest";
import { AppError } from "../../../src/base/errors.ts";
import { SECOND, SessionBench, segment } from "../../support/session-bench.ts";

const byUserId = "u";

describe("redo", () => {
  it("redo: tells how many edited segments it will replace, and how many it has", () => {
    const bench = new SessionBench().start();
    bench.chunk(0, 10);
    bench.utterance([segment(0, SECOND, 0), segment(SECOND, 2 * SECOND, 1)], 10 * SECOND);
    bench.run({ type: "Stop", lastSequence: 0 });
    const speakers = { segments: [], merges: [] };
    bench.run({ type: "RecognitionDone", attempt: 1, speakers });
    const [first] = bench.state.segments;
    const segmentId = first?.id ?? "";
    for (const editId of ["e1", "e2"]) {
      bench.run({ type: "EditSegment", segmentId, editId, label: "", byUserId });
    }
    expect(bench.run({ type: "Redo", byUserId })).toEqual({ attempt: 2, edits: 1 });
    const whole = { whole: true, from: 0, to: Number.MAX_SAFE_INTEGER, sequences: [] };
    const segments = [segment(0, SECOND, 0)];
    bench.run({ type: "Reread", attempt: 2, ...whole, segments });
    expect(bench.of("TranscriptReplaced").map((event) => event.editsReplaced)).toEqual([1]);
    expect(bench.run({ type: "Redo", byUserId })).toEqual({ attempt: 3, edits: 0 });
    bench.run({ type: "Reread", attempt: 3, ...whole, segments });
    expect(bench.of("TranscriptReplaced").at(-1)?.editsReplaced).toBe(0);
  });

  it("redo: is refused when there is no audio", () => {
    const bench = new SessionBench().start();
    bench.run({ type: "Stop", lastSequence: -1 });
    expect(bench.state.phase).toBe("completed");
    expect(() => bench.run({ type: "Redo", byUserId })).toThrow(AppError);
    expect(() => bench.run({ type: "Redo", byUserId })).toThrow("no audio");
    expect(bench.of("RedoRequested")).toEqual([]);
  });
});
