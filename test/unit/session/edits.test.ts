import { describe, expect, it } from "vitest";
import { isAppError } from "../../../src/base/errors.ts";
import { SECOND, SessionBench, segment } from "../../support/session-bench.ts";

const byUserId = "u";

/** S1, S2, S1: three segments of one second each, and the session is completed. */
function told(): SessionBench {
  const bench = new SessionBench().start();
  bench.chunk(0, 10);
  bench.utterance([segment(0, SECOND, 0), segment(SECOND, 2 * SECOND, 1)], 2 * SECOND);
  bench.utterance([segment(3 * SECOND, 4 * SECOND, 0)], 4 * SECOND);
  bench.run({ type: "Stop", lastSequence: 0 });
  const speakers = { segments: [], merges: [] };
  bench.run({ type: "RecognitionDone", attempt: 1, speakers });
  return bench;
}

function codeOf(work: () => unknown): string {
  try {
    work();
    return "none";
  } catch (error) {
    return isAppError(error) ? error.code : String(error);
  }
}

function reread(bench: SessionBench, segments: ReturnType<typeof segment>[]): void {
  bench.run({
    type: "Reread",
    whole: true,
    attempt: 2,
    from: 0,
    to: Number.MAX_SAFE_INTEGER,
    sequences: [],
    segments,
  });
}

describe("edits", () => {
  it("edits: each raises the segment's revision, and one that changes nothing does not", () => {
    const bench = told();
    const segmentId = bench.of("SegmentFinalised")[0]?.segmentId ?? "";
    const edit = { type: "EditSegment", segmentId, editId: "e1", label: "", byUserId } as const;
    expect(bench.run(edit)).toEqual({ segmentId, revision: 2, label: "S1" });
    expect(bench.run({ ...edit, editId: "", label: "S1" })).toMatchObject({ revision: 2 });
    expect(bench.run({ ...edit, editId: "", label: "S2" })).toMatchObject({
      revision: 3,
      label: "S2",
    });
    expect(bench.of("SegmentRevised").map((event) => event.revision)).toEqual([2, 3]);
    expect(codeOf(() => bench.run({ ...edit, expectedRevision: 2 }))).toBe("precondition_failed");
    expect(codeOf(() => bench.run({ ...edit, segmentId: "other" }))).toBe("not_found");
    expect(codeOf(() => bench.run({ ...edit, label: "S9" }))).toBe("not_found");
  });

  it("edits: a free name stays with the label that survives, and with its own where it has one", () => {
    const bench = told();
    const name = { type: "NameSpeaker", byUserId } as const;
    const idOf = (label: number) => bench.state.speakers.labels[label]?.nameId;
    expect(bench.run({ ...name, label: "S2", nameId: "n1" })).toEqual({ label: "S2" });
    bench.run({ type: "MergeSpeakers", from: "S1", into: "S2" });
    expect([idOf(0), idOf(1)]).toEqual(["n1", undefined]);
    expect(bench.run({ ...name, label: "S2", nameId: "n2" })).toEqual({ label: "S1" });
    expect(idOf(0)).toBe("n2");
    bench.run({ ...name, label: "S1", nameId: "" });
    bench.run({ ...name, label: "S1", nameId: "" });
    expect(idOf(0)).toBeUndefined();
    expect(bench.of("SpeakerNamed").map(({ label, nameId }) => [label, nameId])).toEqual([
      ["S2", "n1"],
      ["S1", "n2"],
      ["S1", undefined],
    ]);
    expect(codeOf(() => bench.run({ ...name, label: "S9", nameId: "n3" }))).toBe("not_found");
    expect(codeOf(() => bench.run({ ...name, label: "UU", nameId: "n3" }))).toBe("not_found");
  });

  it("edits: a redo leaves free names where they are", () => {
    const bench = told();
    bench.run({ type: "NameSpeaker", label: "S1", nameId: "n1", byUserId });
    bench.run({ type: "Redo", byUserId });
    reread(bench, [segment(0, SECOND, 0), segment(SECOND, 2 * SECOND, 1)]);
    expect(bench.state.speakers.labels[0]?.nameId).toBe("n1");
  });

  it("edits: of two merged labels the older survives, whichever way they are named", () => {
    const bench = told();
    expect(bench.run({ type: "MergeSpeakers", from: "S1", into: "S2" })).toEqual({
      from: "S2",
      into: "S1",
    });
    expect(bench.state.segments.map((mark) => mark.label)).toEqual(["S1", "S1", "S1"]);
    bench.run({ type: "MergeSpeakers", from: "S2", into: "S1" });
    expect(bench.of("SpeakersRevised")).toHaveLength(1);
  });

  it("edits: a redaction takes what overlaps, for one speaker or for all", () => {
    const bench = told();
    const span = { type: "Redact", redactionId: "r", from: 0, to: 4 * SECOND, byUserId } as const;
    bench.run({ ...span, label: "S2" });
    expect(bench.of("SpanRedacted")[0]?.segmentIds).toHaveLength(1);
    bench.run({ ...span, from: 3.5 * SECOND, label: "" });
    expect(bench.state.segments.map((mark) => mark.redacted === true)).toEqual([false, true, true]);
    const segmentId = bench.state.segments[1]?.id ?? "";
    const edit = { type: "EditSegment", segmentId, editId: "e", label: "", byUserId } as const;
    expect(codeOf(() => bench.run(edit))).toBe("conflict");
  });
});

describe("concerns", () => {
  it("concerns: each is told of once, however often its command comes", () => {
    const bench = told();
    for (const concernId of ["a", "b", "a"]) bench.run({ type: "ConcernStored", concernId });
    expect(bench.of("ConcernRaised").map((event) => event.concernId)).toEqual(["a", "b"]);
  });
});

describe("redo", () => {
  it("redo: the text stands until the new one replaces it, in one event", () => {
    const bench = told();
    expect(bench.run({ type: "Redo", byUserId })).toEqual({ attempt: 2, edits: 0 });
    expect(bench.state.segments).toHaveLength(3);
    expect(codeOf(() => bench.run({ type: "Redo", byUserId }))).toBe("job_active");
    bench.run({
      type: "RecognitionOpened",
      engine: "e",
      diarisationModelVersion: "d",
      detectedLanguage: "en",
    });
    expect(bench.of("JobStarted").map((event) => event.attempt)).toEqual([2]);
    reread(bench, [segment(0, 2 * SECOND, 5), segment(3 * SECOND, 4 * SECOND, 6)]);
    expect(bench.of("TranscriptReplaced")[0]?.removed).toHaveLength(3);
    expect(bench.state.segments).toHaveLength(2);
    expect(bench.of("JobCompleted")).toHaveLength(2);
    expect(bench.of("SessionCompleted")).toHaveLength(1);
    expect(bench.run({ type: "Redo", byUserId })).toEqual({ attempt: 3, edits: 0 });
  });

  it("redo: labels follow the overlap one to one, and claims stay", () => {
    const bench = told();
    const claim = { type: "Claim", label: "S2", source: "self_claim", byUserId } as const;
    bench.run({ ...claim, claimedUserId: byUserId, byOwner: false });
    bench.run({ type: "Redo", byUserId });
    // The new reading numbers the same voices the other way round, and hears a third one.
    reread(bench, [
      segment(0, SECOND, 1),
      segment(SECOND, 2 * SECOND, 0),
      segment(3 * SECOND, 4 * SECOND, 1),
      segment(6 * SECOND, 7 * SECOND, 2),
    ]);
    expect(bench.state.segments.map((mark) => mark.label)).toEqual(["S1", "S2", "S1", "S3"]);
    expect(bench.state.speakers.labels[1]?.claim?.claimedUserId).toBe(byUserId);
  });

  const ofSpeaker = { type: "Redact", from: 0, to: 2 ** 40, byUserId } as const;
  const redacted = (bench: SessionBench) =>
    bench.state.segments.map((mark) => mark.redacted === true);

  it("redaction of a speaker: a merge into an older label does not bring its words back", () => {
    const bench = told();
    bench.run({ ...ofSpeaker, redactionId: "r", label: "S2" });
    bench.run({ type: "MergeSpeakers", from: "S2", into: "S1" });
    expect(redacted(bench)).toEqual([false, true, false]);
    bench.run({ type: "Redo", byUserId });
    reread(bench, [
      segment(0, SECOND, 0),
      segment(SECOND, 2 * SECOND, 0),
      segment(3 * SECOND, 4 * SECOND, 0),
      segment(6 * SECOND, 7 * SECOND, 0),
    ]);
    expect(redacted(bench)).toEqual([false, true, false, true]);
  });

  it("redaction of a speaker: takes what turns out to be said by that voice", () => {
    const merged = told();
    merged.run({ ...ofSpeaker, redactionId: "r", label: "S1" });
    expect(redacted(merged)).toEqual([true, false, true]);
    merged.run({ type: "MergeSpeakers", from: "S2", into: "S1" });
    expect(redacted(merged)).toEqual([true, true, true]);
    const moved = told();
    moved.run({ ...ofSpeaker, redactionId: "r", label: "S2" });
    const segmentId = moved.state.segments[2]?.id ?? "";
    moved.run({ type: "EditSegment", segmentId, editId: "", label: "S2", byUserId });
    expect(redacted(moved)).toEqual([false, true, true]);
    expect(moved.of("SpanRedacted").at(-1)).toMatchObject({
      redactionId: "r",
      label: "S2",
      segmentIds: [segmentId],
      byUserId,
    });
    expect(moved.state.redactions).toHaveLength(1);
  });

  it("redo: what was redacted does not come back", () => {
    const bench = told();
    const redaction = { type: "Redact", redactionId: "r", label: "", byUserId } as const;
    bench.run({ ...redaction, from: 0, to: SECOND });
    bench.run({ type: "Redo", byUserId });
    reread(bench, [segment(0, SECOND, 0), segment(SECOND, 2 * SECOND, 1)]);
    const texts = bench.writes.flatMap((write) => (write.type === "SegmentText" ? [write] : []));
    expect(texts.slice(-2).map((write) => write.redacted)).toEqual([true, false]);
  });

  it("redo: a cancelled one leaves the text, and its late answer changes nothing", () => {
    const bench = told();
    const before = structuredClone(bench.state.segments);
    expect(codeOf(() => bench.run({ type: "CancelRedo", byUserId }))).toBe("conflict");
    bench.run({ type: "Redo", byUserId });
    bench.run({ type: "CancelRedo", byUserId });
    bench.writes = [];
    expect(bench.of("RedoCancelled").map((event) => event.attempt)).toEqual([2]);
    reread(bench, [segment(0, SECOND, 0)]);
    bench.run({ type: "RedoProgress", attempt: 2, progress: 0.5 });
    expect(bench.state.segments).toEqual(before);
    expect(bench.of("TranscriptReplaced")).toEqual([]);
    expect(bench.writes).toEqual([]);
    expect(codeOf(() => bench.run({ type: "CancelRedo", byUserId }))).toBe("conflict");
    expect(bench.run({ type: "Redo", byUserId })).toEqual({ attempt: 3, edits: 0 });
  });

  it("redo: of a running session is refused", () => {
    const bench = new SessionBench().start();
    expect(codeOf(() => bench.run({ type: "Redo", byUserId }))).toBe("job_active");
  });
});
