import { describe, expect, it } from "vitest";
import { apply } from "../../../src/session/apply.ts";
import { initialState } from "../../../src/session/state.ts";
import { SECOND, SessionBench } from "../../support/session-bench.ts";

const PLACE = { chunkId: "c1", sequence: 1, start: 2 * SECOND, length: 2 * SECOND };
const MENDED = { type: "ChunkMended", ...PLACE } as const;
const NONE = { segments: [], merges: [] };

/** Three chunks, of which the file of the second was damaged when it was read. */
function damaged(): SessionBench {
  const bench = new SessionBench().start();
  for (const sequence of [0, 1, 2]) bench.chunk(sequence);
  const failed = { sequence: 1, code: "audio_damaged", message: "Gone." };
  bench.run({ type: "ChunkFailed", ...failed });
  return bench;
}

describe("mended chunks", () => {
  it("mended: its stretch is read again, in a session that has ended too, without moving time", () => {
    for (const hasEnded of [false, true]) {
      const bench = damaged();
      if (hasEnded) {
        bench.run({ type: "Stop", lastSequence: 2 });
        bench.run({ type: "RecognitionDone", attempt: 1, speakers: NONE });
      }
      const { next, position } = bench.state.timeline;
      bench.events = [];
      bench.run(MENDED);
      expect(bench.events).toEqual([
        { type: "GapFilled", ...PLACE, collected: true, mended: true },
        { type: "LateAudioDue", sequences: [1] },
      ]);
      expect(bench.state.timeline).toMatchObject({
        next,
        position,
        gaps: [{ ...PLACE, due: true }],
      });
      // The same command once more finds it waiting.
      bench.events = [];
      bench.run(MENDED);
      expect(bench.events).toEqual([]);
      // Before the end the first reading goes first.
      if (!hasEnded) continue;
      bench.run({
        ...{ type: "Reread", whole: false, from: 0, to: 6 * SECOND, sequences: [1] },
        ...{ segments: [], agreed: [], unread: [], voices: {}, checkpoints: [] },
      });
      expect(bench.of("ChunkTranscribed")).toMatchObject([{ sequence: 1 }]);
      expect(bench.state.timeline.gaps).toEqual([]);
    }
  });

  it("mended: a chunk that is still to be read is left to its reading", () => {
    const bench = new SessionBench().start();
    bench.chunk(0);
    bench.chunk(1);
    bench.events = [];
    bench.run(MENDED);
    bench.run({ ...MENDED, sequence: 7 });
    expect(bench.events).toEqual([]);
  });

  it("mended: a replay of the events gives the same state", () => {
    const bench = damaged();
    bench.run(MENDED);
    const replayed = initialState("s");
    for (const event of bench.events) apply(replayed, event, bench.now);
    expect(replayed).toEqual(bench.state);
  });
});
