import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isAppError } from "../../../src/base/errors.ts";
import { SECOND, SessionBench, segment } from "../../support/session-bench.ts";

const byUserId = "u";
const MERGED = { from: "S2", into: "S1", byUserId } as const;

/** S1, S2, S1, S3: segments of one second each of a session that records. */
function told(): SessionBench {
  const bench = new SessionBench().start();
  bench.chunk(0, 60);
  const clusters = [0, 1, 0, 2];
  const said = clusters.map((cluster, n) => segment(n * SECOND, (n + 1) * SECOND, cluster));
  bench.utterance(said, 4 * SECOND);
  return bench;
}

const labels = (bench: SessionBench) => bench.state.segments.map(({ label }) => label).join(" ");
const ids = (bench: SessionBench) => bench.state.segments.map(({ id }) => id);
const merge = (bench: SessionBench, from: string, into: string) =>
  bench.run({ type: "MergeSpeakers", from, into, byUserId });
const unmerge = (bench: SessionBench, from: string, into: string) =>
  bench.run({ type: "UnmergeSpeakers", from, into, byUserId });

function claim(bench: SessionBench, label: string, claimedUserId: string): void {
  const source = "moderator_assignment";
  bench.run({ type: "Claim", label, source, claimedUserId, byUserId, byOwner: true });
}

function refusal(work: () => unknown): string {
  try {
    work();
    return "";
  } catch (error) {
    return isAppError(error) ? `${error.code}: ${error.message}` : String(error);
  }
}

/** The recogniser finds that clusters are one voice, or whose segments are. */
function propose(
  bench: SessionBench,
  revised: { segments: { start: number; cluster: number }[]; merges: never[] | Merge[] },
): void {
  bench.run({ type: "RecognitionDone", attempt: 1, speakers: revised });
}

interface Merge {
  from: number;
  into: number;
}

describe("merges", () => {
  it("merges: taken back, each segment has the label that it had, and so has what came since", () => {
    const bench = told();
    merge(bench, "S2", "S1");
    bench.utterance([segment(5 * SECOND, 6 * SECOND, 1)], 6 * SECOND);
    expect(labels(bench)).toBe("S1 S1 S1 S3 S1");
    expect(unmerge(bench, "S2", "S1")).toEqual({ label: "S2", into: "S1", segments: 2 });
    expect(labels(bench)).toBe("S1 S2 S1 S3 S2");
    bench.utterance([segment(7 * SECOND, 8 * SECOND, 1)], 8 * SECOND);
    expect(labels(bench)).toBe("S1 S2 S1 S3 S2 S2");
  });

  it("merges: of several each is taken back by itself, in any order", () => {
    for (const order of [["S3", "S2"] as const, ["S2", "S3"] as const]) {
      const bench = told();
      merge(bench, "S3", "S2");
      merge(bench, "S2", "S1");
      expect(labels(bench)).toBe("S1 S1 S1 S1");
      for (const from of order) unmerge(bench, from, from === "S3" ? "S2" : "S1");
      expect(labels(bench)).toBe("S1 S2 S1 S3");
    }
  });

  it("merges: the second who takes one back is refused, and nothing changes", () => {
    const bench = told();
    merge(bench, "S2", "S1");
    unmerge(bench, "S2", "S1");
    const { length } = bench.events;
    const said = "conflict: S2 is not a part of S1 any more.";
    expect(refusal(() => unmerge(bench, "S2", "S1"))).toBe(said);
    merge(bench, "S3", "S2");
    expect(refusal(() => unmerge(bench, "S3", "S1"))).toContain("conflict");
    expect(refusal(() => unmerge(bench, "S9", "S1"))).toContain("not_found");
    expect(bench.events).toHaveLength(length + 1);
  });

  it("merges: a speaker whom a person chose since stays", () => {
    const bench = told();
    const [first = "", second = ""] = ids(bench);
    const edit = { type: "EditSegment", editId: "", byUserId } as const;
    // Before the merge one of S1 is found to be of S2; after it one of the merged is of S3.
    bench.run({ ...edit, segmentId: first, label: "S2" });
    merge(bench, "S2", "S1");
    bench.run({ ...edit, segmentId: second, label: "S3" });
    unmerge(bench, "S2", "S1");
    expect(labels(bench)).toBe("S2 S3 S1 S3");
  });

  it("merges: claim and name come back as they were, also those that the other label outranked", () => {
    const bench = told();
    const labelOf = (index: number) => bench.state.speakers.labels[index];
    claim(bench, "S2", "ben");
    bench.run({ type: "NameSpeaker", label: "S2", nameId: "n2", byUserId });
    merge(bench, "S2", "S1");
    expect(labelOf(0)).toMatchObject({ claim: { claimedUserId: "ben" }, nameId: "n2" });
    unmerge(bench, "S2", "S1");
    expect(labelOf(1)).toMatchObject({ claim: { claimedUserId: "ben" }, nameId: "n2" });
    expect(labelOf(0)).toEqual({});
    claim(bench, "S1", "ada");
    bench.run({ type: "NameSpeaker", label: "S1", nameId: "n1", byUserId });
    merge(bench, "S2", "S1");
    unmerge(bench, "S2", "S1");
    expect(labelOf(0)).toMatchObject({ claim: { claimedUserId: "ada" }, nameId: "n1" });
    expect(labelOf(1)).toMatchObject({ claim: { claimedUserId: "ben" }, nameId: "n2" });
  });

  it("merges: what somebody changed of the claim and the name since stays as they left it", () => {
    const bench = told();
    const labelOf = (index: number) => bench.state.speakers.labels[index];
    claim(bench, "S2", "ben");
    bench.run({ type: "NameSpeaker", label: "S2", nameId: "n2", byUserId });
    merge(bench, "S2", "S1");
    claim(bench, "S1", "ada");
    bench.run({ type: "NameSpeaker", label: "S1", nameId: "n1", byUserId });
    unmerge(bench, "S2", "S1");
    expect(labelOf(0)).toMatchObject({ claim: { claimedUserId: "ada" }, nameId: "n1" });
    expect(labelOf(1)?.claim).toBeUndefined();
    expect(labelOf(1)?.nameId).toBeUndefined();
  });

  it("merges: what a person set apart the recognition does not merge or revise again", () => {
    const bench = told();
    bench.run({ type: "Stop", lastSequence: 0 });
    merge(bench, "S2", "S1");
    unmerge(bench, "S2", "S1");
    propose(bench, { segments: [{ start: SECOND, cluster: 0 }], merges: [{ from: 1, into: 0 }] });
    expect(labels(bench)).toBe("S1 S2 S1 S3");
  });

  it("merges: what the recognition merged by itself a person takes apart", () => {
    const bench = told();
    bench.run({ type: "Stop", lastSequence: 0 });
    propose(bench, { segments: [], merges: [{ from: 2, into: 0 }] });
    expect(labels(bench)).toBe("S1 S2 S1 S1");
    expect(unmerge(bench, "S3", "S1")).toMatchObject({ segments: 1 });
    expect(labels(bench)).toBe("S1 S2 S1 S3");
  });

  it("merges: redacted words stay redacted under either label when they are read again", () => {
    const bench = told();
    const span = { from: 0, to: 4 * SECOND, label: "S1", byUserId };
    bench.run({ type: "Redact", redactionId: "r", ...span });
    merge(bench, "S2", "S1");
    unmerge(bench, "S2", "S1");
    bench.run({ type: "Stop", lastSequence: 0 });
    propose(bench, { segments: [], merges: [] });
    expect(bench.state.segments.map(({ redacted }) => redacted === true)).toEqual([
      true,
      true,
      true,
      false,
    ]);
    bench.run({ type: "Redo", byUserId });
    const again = [0, 1, 0, 2].map((cluster, n) => segment(n * SECOND, (n + 1) * SECOND, cluster));
    const whole = { whole: true, from: 0, to: Number.MAX_SAFE_INTEGER, sequences: [] };
    bench.run({ type: "Reread", attempt: 2, ...whole, segments: again });
    const hidden = bench.state.segments.map(({ label, redacted }) => `${label} ${redacted}`);
    expect(hidden).toEqual(["S1 true", "S2 true", "S1 true", "S3 undefined"]);
  });

  it("merges: of a waiting result the segments get their label back, too", () => {
    const bench = told();
    bench.run({ type: "Stop", lastSequence: 0 });
    propose(bench, { segments: [], merges: [] });
    bench.run({ type: "RedoForReview", byUserId });
    const again = [0, 1, 0, 2].map((cluster, n) => segment(n * SECOND, (n + 1) * SECOND, cluster));
    const whole = { whole: true, from: 0, to: Number.MAX_SAFE_INTEGER, sequences: [] };
    bench.run({ type: "Reread", attempt: 2, ...whole, segments: again });
    const waiting = () => bench.state.candidate?.segments.map(({ label }) => label).join(" ");
    merge(bench, "S2", "S1");
    expect(waiting()).toBe("S1 S1 S1 S3");
    unmerge(bench, "S2", "S1");
    expect(waiting()).toBe("S1 S2 S1 S3");
    expect(bench.of("SpeakersUnmerged")[0]?.candidateIds).toHaveLength(1);
  });
});

describe("splits", () => {
  const reassign = (bench: SessionBench, places: number[], from: string, into: string) => {
    const segmentIds = places.map((place) => ids(bench)[place] ?? "");
    return bench.run({ type: "ReassignSegments", segmentIds, from, into, byUserId });
  };

  it("splits: lines go to another speaker or a new one, and back", () => {
    const bench = told();
    expect(reassign(bench, [0, 2], "S1", "")).toEqual({ label: "S4", skipped: [] });
    expect(labels(bench)).toBe("S4 S2 S4 S3");
    expect(reassign(bench, [0, 2], "S4", "S1")).toEqual({ label: "S1", skipped: [] });
    expect(labels(bench)).toBe("S1 S2 S1 S3");
    bench.utterance([segment(5 * SECOND, 6 * SECOND, 3)], 6 * SECOND);
    expect(labels(bench)).toBe("S1 S2 S1 S3 S5");
  });

  it("splits: a line that somebody else has given to another speaker meanwhile stays and is named", () => {
    const bench = told();
    const [first = ""] = ids(bench);
    const edit = { type: "EditSegment", editId: "", label: "S3", byUserId } as const;
    bench.run({ ...edit, segmentId: first });
    expect(reassign(bench, [0, 2], "S1", "S2")).toEqual({ label: "S2", skipped: [first] });
    expect(labels(bench)).toBe("S3 S2 S2 S3");
    expect(refusal(() => reassign(bench, [0, 2], "S1", "S2"))).toContain("conflict");
    expect(refusal(() => reassign(bench, [0], "S3", "S9"))).toContain("not_found");
  });

  it("splits: the recognition changes no speaker that a person chose", () => {
    const bench = told();
    reassign(bench, [0], "S1", "");
    bench.run({ type: "Stop", lastSequence: 0 });
    propose(bench, { segments: [{ start: 0, cluster: 1 }], merges: [] });
    expect(labels(bench)).toBe("S4 S2 S1 S3");
  });

  it("splits: redacted words stay redacted under the other label, too", () => {
    const bench = told();
    bench.run({
      type: "Redact",
      redactionId: "r",
      from: 0,
      to: SECOND,
      label: "S1",
      byUserId,
    });
    expect(refusal(() => reassign(bench, [0], "S1", "S2"))).toContain("conflict");
    expect(labels(bench)).toBe("S1 S2 S1 S3");
  });

  it("splits: none gets a new label while a repeated transcription waits that may have it", () => {
    const bench = told();
    bench.run({ type: "Stop", lastSequence: 0 });
    propose(bench, { segments: [], merges: [] });
    bench.run({ type: "RedoForReview", byUserId });
    const again = [segment(0, SECOND, 7)];
    const whole = { whole: true, from: 0, to: Number.MAX_SAFE_INTEGER, sequences: [] };
    bench.run({ type: "Reread", attempt: 2, ...whole, segments: again });
    expect(refusal(() => reassign(bench, [0], "S1", ""))).toContain("waits for a choice");
    expect(reassign(bench, [0], "S1", "S2")).toMatchObject({ label: "S2" });
  });
});

it("merges: without a person, as earlier releases told them, leave the state as it always was", () => {
  const bench = told();
  bench.run({ type: "MergeSpeakers", from: MERGED.from, into: MERGED.into });
  expect(bench.state.speakers.labels).toEqual([{}, { mergedInto: 0 }, {}]);
  expect(bench.state.segments.every(({ own }) => own === undefined)).toBe(true);
  expect(unmerge(bench, "S2", "S1")).toMatchObject({ segments: 1 });
});

/** A wish of the property: to merge two of four labels, or that a cluster speaks. */
const step = fc.oneof(
  fc.record({ speaks: fc.integer({ min: 0, max: 3 }) }),
  fc.record({ from: fc.integer({ min: 1, max: 4 }), into: fc.integer({ min: 1, max: 4 }) }),
);

it("merges: however many, all of them taken back leave what would be without any", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 20 }), fc.boolean(), (steps, isOldestFirst) => {
      const [with_, without] = [told(), told()];
      for (const each of [with_, without]) {
        each.utterance([segment(4 * SECOND, 5 * SECOND, 3)], 5 * SECOND);
      }
      for (const [n, each] of steps.entries()) {
        if ("speaks" in each) {
          const start = (5 + n) * SECOND;
          for (const bench of [with_, without]) {
            bench.utterance([segment(start, start + SECOND, each.speaks)], start + SECOND);
          }
        } else merge(with_, `S${each.from}`, `S${each.into}`);
      }
      const merges = with_.of("SpeakersRevised").flatMap((event) => event.merges);
      for (const { from, into } of isOldestFirst ? merges : merges.toReversed()) {
        unmerge(with_, from, into);
      }
      expect(labels(with_)).toBe(labels(without));
    }),
  );
});
