import { describe, expect, it } from "vitest";
import type { RecognisedSegment } from "../../../src/session/command.ts";
import { SECOND, SessionBench, segment } from "../../support/session-bench.ts";

type Heard = readonly [from: number, to: number, cluster: number];

function spoken([from, to, cluster]: Heard, ...overlaps: Heard[]): RecognisedSegment {
  return {
    ...segment(from * SECOND, to * SECOND, cluster),
    overlaps: overlaps.map(([start, end, cluster]) => {
      return { start: start * SECOND, end: end * SECOND, cluster };
    }),
  };
}

function recording(): SessionBench {
  const bench = new SessionBench().start();
  for (let sequence = 0; sequence < 4; sequence++) bench.chunk(sequence);
  return bench;
}

/** What was written of each segment: its place in order, and from where to where it is. */
function overlapsIn({ writes }: SessionBench): unknown[][] {
  const texts = writes.filter((write) => write.type === "SegmentText");
  const ids = texts.map(({ segmentId }) => segmentId);
  return texts.map(({ overlaps = [] }) =>
    overlaps.map(({ segmentId, start, end }) => {
      return [ids.indexOf(segmentId), start / SECOND, end / SECOND];
    }),
  );
}

describe("overlaps", () => {
  it("overlaps: name the nearest segment of the voice; voices without one are left out", () => {
    const bench = recording();
    bench.utterance([spoken([0, 1, 1])], 2 * SECOND);
    const segments = [
      spoken([2, 3, 1]),
      spoken([3, 5, 0], [4, 5, 1], [4, 5, 7]),
      spoken([5, 6, 1], [5, 5.5, 0]),
    ];
    bench.utterance(segments, 7 * SECOND);
    expect(overlapsIn(bench)).toEqual([[], [], [[3, 4, 5]], [[2, 5, 5.5]]]);
  });

  it("overlaps: end where their segment does, and go with what of it has no room", () => {
    const bench = recording();
    bench.utterance([spoken([0, 2, 0], [1, 9, 1]), spoken([2, 4, 1], [0, 1, 0])], 4 * SECOND);
    expect(overlapsIn(bench)).toEqual([[[1, 1, 2]], []]);
  });

  it("overlaps: a second reading brings its own", () => {
    const bench = recording();
    bench.utterance([spoken([0, 2, 0], [1, 2, 1]), spoken([2, 4, 1])], 4 * SECOND);
    bench.run({ type: "Stop", lastSequence: 3 });
    bench.run({ type: "RecognitionDone", attempt: 1, speakers: { segments: [], merges: [] } });
    bench.run({ type: "Redo", byUserId: "u" });
    bench.writes.length = 0;
    bench.run({
      type: "Reread",
      attempt: 2,
      whole: true,
      from: 0,
      to: Number.MAX_SAFE_INTEGER,
      sequences: [],
      segments: [spoken([0, 3, 4]), spoken([3, 4, 5], [3, 3.5, 4])],
    });
    expect(overlapsIn(bench)).toEqual([[], [[0, 3, 3.5]]]);
  });
});
