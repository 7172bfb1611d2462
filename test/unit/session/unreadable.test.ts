import { describe, expect, it } from "vitest";
import { GAP_WAIT } from "../../../src/session/decide-audio.ts";
import { SECOND, SessionBench, segment } from "../../support/session-bench.ts";

const NONE = { segments: [], merges: [] };
const UNREADABLE = "None of the chunk's 9 packets can be decoded: it holds no Opus audio.";

/** Two seconds that are known to hold nothing. */
function unreadable(bench: SessionBench, sequence: number): void {
  bench.run({
    type: "ChunkStored",
    chunkId: `c${sequence}`,
    sequence,
    frames: 2 * SECOND,
    sampleRate: SECOND,
    unreadable: UNREADABLE,
  });
}

function done(bench: SessionBench): void {
  bench.run({ type: "RecognitionDone", attempt: 1, speakers: NONE });
}

const types = ({ events }: SessionBench) => events.map(({ type }) => type);

describe("unreadable audio", () => {
  it("unreadable audio: a chunk that holds nothing fails where it has its place, with the reason", () => {
    const bench = new SessionBench().start();
    bench.chunk(0);
    unreadable(bench, 1);
    bench.chunk(2);
    const [failed, ...others] = bench.of("ChunkFailed");
    expect(failed).toEqual({
      type: "ChunkFailed",
      chunkId: "c1",
      sequence: 1,
      code: "not_audio",
      message: UNREADABLE,
    });
    expect(others).toEqual([]);
    const places = bench.of("ChunkPlaced").map(({ sequence, start }) => [sequence, start]);
    expect(places).toEqual([
      [0, 0],
      [1, 2 * SECOND],
      [2, 4 * SECOND],
    ]);
    bench.utterance([segment(0, SECOND, 0)], 6 * SECOND);
    bench.run({ type: "Stop", lastSequence: 2 });
    done(bench);
    expect(bench.of("ChunkTranscribed").map(({ sequence }) => sequence)).toEqual([0, 2]);
    expect(bench.state.phase).toBe("completed");
  });

  it("unreadable audio: one that waits for an earlier chunk fails once that is there", () => {
    const bench = new SessionBench().start();
    unreadable(bench, 1);
    expect(bench.of("ChunkFailed")).toEqual([]);
    bench.chunk(0);
    expect(bench.of("ChunkFailed").map(({ sequence }) => sequence)).toEqual([1]);
  });

  it("unreadable audio: a session of nothing else fails, and its job says why", () => {
    const bench = new SessionBench().start();
    unreadable(bench, 0);
    unreadable(bench, 1);
    bench.run({ type: "Stop", lastSequence: 1 });
    done(bench);
    expect(bench.of("JobCompleted")).toEqual([]);
    const message = "None of the audio could be read.";
    expect(bench.of("JobFailed")).toEqual([{ type: "JobFailed", jobId: "j", attempt: 1, message }]);
    const reason = "audio_unreadable";
    expect(bench.of("SessionFailed")).toEqual([{ type: "SessionFailed", message, reason }]);
    expect(bench.state.phase).toBe("failed");
  });

  it("unreadable audio: silence was read all the same", () => {
    const bench = new SessionBench().start();
    bench.chunk(0);
    unreadable(bench, 1);
    bench.run({ type: "Stop", lastSequence: 1 });
    done(bench);
    expect(bench.state.phase).toBe("completed");
  });

  it("unreadable audio: a session without any chunk is no failure, unless what came was no audio", () => {
    const empty = new SessionBench().start();
    empty.run({ type: "Stop", lastSequence: -1 });
    expect(empty.state.phase).toBe("completed");
    const refused = new SessionBench().start();
    refused.run({ type: "Stop", lastSequence: -1, reason: "not_audio" });
    expect(refused.state.phase).toBe("failed");
    expect(refused.of("JobFailed")[0]?.message).toBe("What the device streamed is no audio.");
  });

  it("unreadable audio: chunks that never came are missing, not unreadable", () => {
    const bench = new SessionBench().start();
    bench.chunk(1);
    bench.now += GAP_WAIT;
    bench.run({ type: "GapTimeout", sequence: 0 });
    bench.run({ type: "Stop", lastSequence: 1 });
    done(bench);
    expect(bench.state.phase).toBe("completed");
  });

  it("unreadable audio: neither a missing chunk nor a stream's header beside it is sound", () => {
    const bench = new SessionBench().start();
    const header = { chunkId: "c1", sequence: 1, frames: 0, sampleRate: SECOND };
    bench.run({ type: "ChunkStored", ...header });
    unreadable(bench, 2);
    bench.now += GAP_WAIT;
    bench.run({ type: "GapTimeout", sequence: 0 });
    bench.run({ type: "Stop", lastSequence: 2 });
    done(bench);
    expect(bench.of("ChunkTranscribed").map(({ sequence }) => sequence)).toEqual([1]);
    expect(bench.state.phase).toBe("failed");
  });

  it("unreadable audio: a stream's header alone is no sound that could not be read", () => {
    const bench = new SessionBench().start();
    bench.run({ type: "ChunkStored", chunkId: "c0", sequence: 0, frames: 0, sampleRate: SECOND });
    bench.run({ type: "Stop", lastSequence: 0 });
    done(bench);
    expect(bench.state.phase).toBe("completed");
  });

  it("unreadable audio: the redo of a failed session ends as the first reading did, or mends it", () => {
    const bench = new SessionBench().start();
    unreadable(bench, 0);
    bench.run({ type: "Stop", lastSequence: 0 });
    done(bench);
    const reread = { type: "Reread" as const, whole: true, from: 0, to: 2 * SECOND, sequences: [] };
    const again = bench.run({ type: "Redo", byUserId: "u" }) as { attempt: number };
    bench.run({ ...reread, attempt: again.attempt, segments: [] });
    expect(bench.of("JobFailed")).toHaveLength(2);
    expect(bench.of("SessionFailed")).toHaveLength(1);
    expect(bench.state).toMatchObject({ phase: "failed", redo: undefined });
    const third = bench.run({ type: "Redo", byUserId: "u" }) as { attempt: number };
    bench.run({ ...reread, attempt: third.attempt, segments: [segment(0, SECOND, 0)] });
    expect(types(bench).slice(-2)).toEqual(["JobCompleted", "SessionCompleted"]);
    expect(bench.state.phase).toBe("completed");
  });

  it("unreadable audio: late audio that can be read mends a failed session", () => {
    const bench = new SessionBench().start();
    unreadable(bench, 0);
    bench.run({ type: "Stop", lastSequence: 1 });
    bench.now += GAP_WAIT;
    bench.run({ type: "GapTimeout", sequence: 1 });
    done(bench);
    expect(bench.state.phase).toBe("failed");
    bench.chunk(1);
    const [gap] = bench.state.timeline.gaps;
    const from = gap?.start ?? 0;
    bench.run({
      type: "Reread",
      whole: false,
      attempt: 2,
      from,
      to: from + 2 * SECOND,
      sequences: [1],
      segments: [],
    });
    expect(bench.state.phase).toBe("completed");
    expect(bench.of("SessionCompleted")).toHaveLength(1);
  });
});
