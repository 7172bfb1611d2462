import { beforeEach, describe, expect, it } from "vitest";
import { AppError } from "../../../src/base/errors.ts";
import { SECOND, SessionBench, segment } from "../../support/session-bench.ts";

const byUserId = "u";
const WHOLE = { whole: true, from: 0, to: Number.MAX_SAFE_INTEGER, sequences: [] };

describe("redo for review", () => {
  let bench: SessionBench;
  let before: string[];

  beforeEach(() => {
    bench = new SessionBench().start();
    bench.chunk(0, 10);
    bench.utterance([segment(0, SECOND, 0), segment(SECOND, 2 * SECOND, 1)], 10 * SECOND);
    bench.run({ type: "Stop", lastSequence: 0 });
    const speakers = { segments: [], merges: [] };
    bench.run({ type: "RecognitionDone", attempt: 1, speakers });
    before = ids();
  });

  const ids = () => bench.state.segments.map(({ id }) => id);
  const labels = () => bench.state.segments.map(({ label }) => label);
  const choose = (choice: "accepted" | "discarded" | "expired", attempt = 2) =>
    bench.run({ type: "ReviewRedo", attempt, choice, byUserId });

  /** Reads again; cluster 5 is a voice that the transcript does not have. */
  function propose(): void {
    bench.run({ type: "RedoForReview", byUserId });
    const { attempt } = bench.state.redo ?? { attempt: 0 };
    const segments = [segment(0, SECOND, 0), segment(3 * SECOND, 4 * SECOND, 5)];
    bench.run({ type: "Reread", attempt, ...WHOLE, segments });
  }

  it("redo for review: leaves the text, and ends the job, until somebody chooses", () => {
    propose();
    expect(ids()).toEqual(before);
    expect(bench.of("TranscriptReplaced")).toEqual([]);
    expect(bench.of("JobCompleted")).toHaveLength(2);
    expect(bench.state.redo).toBeUndefined();
    expect(bench.state.candidate?.segments.map(({ label }) => label)).toEqual(["S1", "S3"]);
    expect(bench.state.speakers.labels).toHaveLength(2);
  });

  it("redo for review: accepting replaces text and edits in one step, and again changes nothing", () => {
    propose();
    const segmentId = before[0] ?? "";
    bench.run({ type: "EditSegment", segmentId, editId: "e1", label: "", byUserId });
    expect(choose("accepted")).toEqual({ outcome: "accepted", edits: 1 });
    expect(ids().some((id) => before.includes(id))).toBe(false);
    expect(labels()).toEqual(["S1", "S3"]);
    const [replaced] = bench.of("TranscriptReplaced");
    expect(replaced).toMatchObject({ attempt: 2, editsReplaced: 1 });
    expect(choose("accepted")).toEqual({ outcome: "accepted", edits: 0 });
    expect(bench.of("TranscriptReplaced")).toHaveLength(1);
    expect(() => choose("discarded")).toThrow("decided on before: accepted");
  });

  it("redo for review: discarding leaves everything as it was, and again changes nothing", () => {
    propose();
    choose("discarded");
    choose("discarded");
    expect(ids()).toEqual(before);
    expect(bench.of("RedoReviewed")).toHaveLength(1);
    expect(() => choose("accepted")).toThrow("decided on before: discarded");
    expect(() => choose("accepted", 7)).toThrow("waits for a choice");
  });

  it("redo for review: one that nobody chose ends by itself, named as such", () => {
    propose();
    choose("expired");
    expect(bench.of("RedoReviewed")).toEqual([
      { type: "RedoReviewed", jobId: bench.state.jobId, attempt: 2, outcome: "expired" },
    ]);
    expect(bench.state.candidate).toBeUndefined();
  });

  it("redo for review: another redo takes the place of what waits", () => {
    propose();
    propose();
    expect(bench.state.candidate?.attempt).toBe(3);
    expect(() => choose("accepted", 2)).toThrow(AppError);
    bench.run({ type: "Redo", byUserId });
    expect(bench.state.candidate).toBeUndefined();
  });

  it("redo for review: what is redacted while it waits stays redacted when it is accepted", () => {
    propose();
    const redaction = { type: "Redact", redactionId: "r1", label: "", byUserId } as const;
    bench.run({ ...redaction, from: 3 * SECOND, to: 4 * SECOND });
    const [candidate] = bench.state.candidate?.segments.slice(1) ?? [];
    expect(bench.of("SpanRedacted")[0]?.candidateIds).toEqual([candidate?.id]);
    choose("accepted");
    expect(bench.state.segments.map(({ redacted }) => redacted)).toEqual([undefined, true]);
    const taken = bench.writes.find((write) => write.type === "CandidateTaken");
    expect(taken).toMatchObject({ redacted: [candidate?.id] });
  });

  it("redo for review: a speaker who is redacted is redacted in what waits, and merges are followed", () => {
    bench.run({ type: "RedoForReview", byUserId });
    const segments = [segment(0, SECOND, 0), segment(SECOND, 2 * SECOND, 1)];
    bench.run({ type: "Reread", attempt: 2, ...WHOLE, segments });
    const [first, second] = bench.state.candidate?.segments ?? [];
    expect([first?.label, second?.label]).toEqual(["S1", "S2"]);
    const redaction = { type: "Redact", redactionId: "r1", byUserId } as const;
    bench.run({ ...redaction, from: 0, to: 10 * SECOND, label: "S1" });
    expect(bench.of("SpanRedacted")[0]?.candidateIds).toEqual([first?.id]);
    bench.run({ type: "MergeSpeakers", from: "S1", into: "S2" });
    choose("accepted");
    expect(labels()).toEqual(["S1", "S1"]);
    expect(bench.state.segments[0]?.redacted).toBe(true);
  });

  it("redo for review: audio that comes late drops what waits, as it lacks the words of that audio", () => {
    propose();
    const late = { whole: false, from: 0, to: SECOND, sequences: [3] };
    bench.run({ type: "Reread", ...late, segments: [segment(0, SECOND, 0)] });
    expect(bench.state.candidate).toBeDefined();
    const gap = { sequence: 1, start: 10 * SECOND, length: 0, pin: 10 * SECOND, knownClusters: 2 };
    bench.record({ type: "GapDeclared", ...gap, tail: true });
    bench.chunk(1);
    const { start, length } = bench.state.timeline.gaps[0] ?? { start: 0, length: 0 };
    const span = { from: start, to: start + length, sequences: [1] };
    const segments = [segment(start, start + SECOND, 0)];
    bench.run({ type: "Reread", whole: false, ...span, segments });
    expect(bench.of("RedoReviewed")[0]?.outcome).toBe("outdated");
  });

  it("redo for review: is refused where there are no words to compare with", () => {
    const silent = new SessionBench().start();
    silent.chunk(0, 1);
    silent.run({ type: "Stop", lastSequence: 0 });
    const speakers = { segments: [], merges: [] };
    silent.run({ type: "RecognitionDone", attempt: 1, speakers });
    expect(() => silent.run({ type: "RedoForReview", byUserId })).toThrow("no words to compare");
    expect(silent.of("RedoRequested")).toEqual([]);
  });
});
