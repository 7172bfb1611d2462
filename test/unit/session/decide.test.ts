import { describe, expect, it } from "vitest";
import { isAppError } from "../../../src/base/errors.ts";
import { GAP_WAIT } from "../../../src/session/decide-audio.ts";
import { isRepeatable, tryOutsideCommand } from "../../../src/session/outside-command.ts";
import { SECOND, SessionBench, segment } from "../../support/session-bench.ts";

describe("chunks", () => {
  it("chunks: one that is told of before the session's start is to be told of again", () => {
    const bench = new SessionBench();
    expect(() => bench.chunk(0)).toThrow(/start has not arrived/);
    expect(bench.events).toEqual([]);
    bench.start();
    bench.chunk(0);
    expect(bench.events.map(({ type }) => type)).toContain("ChunkPlaced");
  });

  it("chunks: out of order they end up in order, back to back", () => {
    const bench = new SessionBench().start();
    for (const sequence of [2, 0, 1]) bench.chunk(sequence);
    expect(bench.of("ChunkPlaced").map((e) => [e.sequence, e.start, e.length])).toEqual([
      [0, 0, 2 * SECOND],
      [1, 2 * SECOND, 2 * SECOND],
      [2, 4 * SECOND, 2 * SECOND],
    ]);
  });

  it("chunks: the same one twice changes nothing", () => {
    const bench = new SessionBench().start();
    bench.chunk(0);
    bench.chunk(2);
    const before = bench.events.length;
    bench.chunk(0);
    bench.chunk(2);
    expect(bench.events.length).toBe(before);
  });

  it("chunks: positions of a rate that does not divide evenly never drift", () => {
    const bench = new SessionBench().start();
    for (let sequence = 0; sequence < 100; sequence += 1) bench.chunk(sequence, 0.5, 22_050);
    expect(bench.state.timeline.position).toBe(50 * SECOND);
  });

  it("chunks: a gap is waited for, then marked with the nominal length", () => {
    const bench = new SessionBench().start();
    bench.chunk(0);
    bench.chunk(2);
    bench.now += GAP_WAIT - 1;
    bench.run({ type: "GapTimeout", sequence: 1 });
    expect(bench.of("GapDeclared")).toEqual([]);
    bench.now += 1;
    bench.run({ type: "GapTimeout", sequence: 1 });
    expect(bench.of("GapDeclared")).toMatchObject([
      { sequence: 1, start: 2 * SECOND, length: 2 * SECOND },
    ]);
    expect(bench.of("ChunkPlaced").at(-1)).toMatchObject({ sequence: 2, start: 4 * SECOND });
  });

  it("chunks: a late one fills its gap and moves nothing else", () => {
    const bench = new SessionBench().start();
    bench.chunk(0);
    bench.chunk(2);
    bench.now += GAP_WAIT;
    bench.run({ type: "GapTimeout", sequence: 1 });
    bench.chunk(1);
    bench.chunk(1);
    expect(bench.of("GapFilled")).toMatchObject([{ chunkId: "c1", start: 2 * SECOND }]);
    expect(bench.state.timeline.position).toBe(6 * SECOND);
  });

  it("chunks: what is missing at the end after stop becomes a gap too", () => {
    const bench = new SessionBench().start();
    bench.chunk(0);
    bench.run({ type: "Stop", lastSequence: 2 });
    bench.now += GAP_WAIT;
    bench.run({ type: "GapTimeout", sequence: 1 });
    expect(bench.of("GapDeclared").map((e) => e.sequence)).toEqual([1, 2]);
  });

  it("chunks: a session without audio completes at stop", () => {
    const bench = new SessionBench().start();
    bench.run({ type: "Stop", lastSequence: -1 });
    expect(bench.events.map((e) => e.type)).toEqual([
      "SessionStarted",
      "SessionStopped",
      "JobCompleted",
      "SessionCompleted",
    ]);
  });
});

describe("recognition", () => {
  it("recognition: labels come in order of first speech and stay", () => {
    const bench = new SessionBench().start();
    bench.chunk(0, 10);
    bench.utterance([segment(0, SECOND, 7), segment(SECOND, 2 * SECOND, 3)], 2 * SECOND);
    bench.utterance([segment(3 * SECOND, 4 * SECOND, 7), segment(5 * SECOND, 6 * SECOND, -1)], 0);
    expect(bench.of("SegmentFinalised").map((e) => e.label)).toEqual(["S1", "S2", "S1", "UU"]);
  });

  it("recognition: a replay of a known utterance adds nothing", () => {
    const bench = new SessionBench().start();
    bench.chunk(0, 10);
    bench.utterance([segment(0, SECOND, 0)], SECOND);
    bench.utterance([segment(0, SECOND, 0)], SECOND);
    expect(bench.of("SegmentFinalised")).toHaveLength(1);
  });

  it("recognition: a chunk is completed when everything in it is final", () => {
    const bench = new SessionBench().start();
    bench.chunk(0, 2);
    bench.chunk(1, 2);
    bench.utterance([segment(0, SECOND, 0)], 3 * SECOND);
    expect(bench.of("ChunkTranscribed").map((e) => e.sequence)).toEqual([0]);
    bench.run({ type: "Progress", attempt: 1, finalisedTo: 4 * SECOND });
    expect(bench.of("ChunkTranscribed").map((e) => e.sequence)).toEqual([0, 1]);
  });

  it("recognition: merged clusters merge their labels, the older survives with the claim", () => {
    const bench = new SessionBench().start();
    bench.chunk(0, 10);
    bench.utterance([segment(0, SECOND, 0), segment(SECOND, 2 * SECOND, 1)], 2 * SECOND);
    bench.run({
      type: "Claim",
      label: "S2",
      source: "self_claim",
      claimedUserId: "u",
      byUserId: "u",
      byOwner: false,
    });
    bench.run({ type: "Stop", lastSequence: 0 });
    bench.run({
      type: "RecognitionDone",
      attempt: 1,
      speakers: { segments: [], merges: [{ from: 0, into: 1 }] },
    });
    expect(bench.of("SpeakersRevised")[0]?.merges).toEqual([{ from: "S2", into: "S1" }]);
    expect(bench.state.speakers.labels[0]?.claim?.claimedUserId).toBe("u");
    expect(bench.of("JobCompleted")[0]).toMatchObject({ speakerCount: 1, durationMs: 10_000 });
    expect(bench.state.phase).toBe("completed");
  });

  it("recognition: a re-reading replaces its span and keeps the labels", () => {
    const bench = new SessionBench().start();
    bench.chunk(0);
    bench.utterance([segment(0, SECOND, 0)], SECOND);
    bench.chunk(2);
    bench.now += GAP_WAIT;
    bench.run({ type: "GapTimeout", sequence: 1 });
    bench.utterance([segment(4 * SECOND, 5 * SECOND, 1)], 6 * SECOND);
    bench.chunk(1);
    bench.run({
      type: "Reread",
      whole: false,
      attempt: 2,
      from: SECOND,
      to: 4 * SECOND,
      sequences: [1],
      segments: [segment(2 * SECOND, 3 * SECOND, 1), segment(3 * SECOND, 3.5 * SECOND, 0)],
    });
    expect(bench.of("TranscriptReplaced")[0]?.added.map((a) => a.label)).toEqual(["S3", "S1"]);
    expect(bench.state.segments.map((mark) => mark.label)).toEqual(["S1", "S3", "S1", "S2"]);
    expect(bench.state.timeline.gaps).toEqual([]);
  });
});

describe("claims", () => {
  const claim = {
    type: "Claim",
    label: "S1",
    source: "self_claim",
    claimedUserId: "a",
    byUserId: "a",
    byOwner: false,
  } as const;

  function spoken(): SessionBench {
    const bench = new SessionBench().start();
    bench.chunk(0, 10);
    bench.utterance([segment(0, SECOND, 0)], SECOND);
    return bench;
  }

  function code(work: () => unknown): string {
    try {
      work();
    } catch (error) {
      if (isAppError(error)) return error.code;
    }
    return "none";
  }

  it("claims: a self claim never overrides, an assignment by the owner does", () => {
    const bench = spoken();
    expect(bench.run(claim)).toEqual({ label: "S1", source: "self_claim", claimedUserId: "a" });
    expect(code(() => bench.run({ ...claim, claimedUserId: "b", byUserId: "b" }))).toBe(
      "already_claimed",
    );
    const assignment = { ...claim, source: "moderator_assignment", claimedUserId: "b" } as const;
    expect(code(() => bench.run(assignment))).toBe("forbidden");
    expect(bench.run({ ...assignment, byOwner: true })).toMatchObject({ claimedUserId: "b" });
    expect(code(() => bench.run(claim))).toBe("already_claimed");
  });

  it("claims: repeating one changes nothing", () => {
    const bench = spoken();
    bench.run(claim);
    const before = bench.events.length;
    bench.run(claim);
    expect(bench.events.length).toBe(before);
  });

  it("claims: labels that were never given are unknown", () => {
    const bench = spoken();
    for (const label of ["S2", "UU", "S0", "nonsense"]) {
      expect(code(() => bench.run({ ...claim, label }))).toBe("not_found");
    }
  });
});

describe("suspects", () => {
  it("suspects: kept as told; the third break at a chunk fails it, once", () => {
    const bench = new SessionBench().start();
    for (let sequence = 0; sequence < 3; sequence += 1) bench.chunk(sequence);
    const suspects = [
      { sequence: 1, breaks: 2, position: 0 },
      { sequence: 2, breaks: 1, position: 0 },
    ];
    bench.run({ type: "Suspected", attempt: 1, suspects });
    expect(bench.writes.at(-1)).toEqual({ type: "Suspects", attempt: 1, suspects });
    expect(bench.of("ChunkFailed")).toEqual([]);
    const again = [{ sequence: 1, breaks: 3, position: 0 }];
    bench.run({ type: "Suspected", attempt: 1, suspects: again });
    bench.run({ type: "Suspected", attempt: 1, suspects: again });
    expect(bench.of("ChunkFailed")).toMatchObject([
      { chunkId: "c1", sequence: 1, code: "audio_unreadable" },
    ]);
    bench.utterance([], 6 * SECOND);
    expect(bench.of("ChunkTranscribed").map((event) => event.sequence)).toEqual([0, 2]);
  });
});

describe("waking", () => {
  it("wake: comes from outside, changes nothing however often, and starts no session", () => {
    const wake = tryOutsideCommand({ type: "Wake" });
    if (wake === undefined) throw new Error("not taken from outside");
    expect(isRepeatable(wake)).toBe(true);
    const bench = new SessionBench();
    expect(() => bench.run(wake)).toThrow(/start has not arrived/);
    bench.start();
    bench.chunk(0);
    const before = { state: structuredClone(bench.state), events: bench.events.length };
    expect(bench.run(wake)).toBeUndefined();
    expect({ state: bench.state, events: bench.events.length }).toEqual(before);
  });
});

describe("channels that are speakers", () => {
  const on = (channel: number, from: number, to: number) => ({
    ...segment(from * SECOND + channel, to * SECOND, channel),
    channel,
  });

  /** The first channel speaks from 0 to 8, the second from 2 to 4 and from 5 to 6. */
  function hear(bench: SessionBench): void {
    const none = { segments: [], merges: [] };
    const common = { type: "Utterance", attempt: 1, revised: none } as const;
    bench.run({ ...common, segments: [on(1, 2, 4)], end: 4 * SECOND, finalisedTo: 0 });
    bench.run({ ...common, segments: [on(1, 5, 6)], end: 6 * SECOND, finalisedTo: 0 });
    const finalisedTo = 8 * SECOND;
    bench.run({ ...common, segments: [on(0, 0, 8)], end: finalisedTo, finalisedTo });
  }

  it("channels: what overlaps, and began before what is final, is kept and in order", () => {
    const bench = new SessionBench().start();
    for (const sequence of [0, 1, 2, 3]) bench.chunk(sequence);
    hear(bench);
    expect(bench.state.segments.map(({ start, label }) => [start, label])).toEqual([
      [0, "S2"],
      [2 * SECOND + 1, "S1"],
      [5 * SECOND + 1, "S1"],
    ]);
    expect(bench.state.checkpoint).toBe(8 * SECOND);
    const finals = bench.events.filter(({ type }) => type === "SegmentFinalised");
    expect(finals).toMatchObject([{ channel: 1 }, { channel: 1 }, { channel: 0 }]);
  });

  it("channels: a reading that begins again adds nothing twice, and loses nothing", () => {
    const bench = new SessionBench().start();
    for (const sequence of [0, 1, 2, 3]) bench.chunk(sequence);
    const none = { segments: [], merges: [] };
    const common = { type: "Utterance", attempt: 1, revised: none } as const;
    bench.run({ ...common, segments: [on(1, 2, 4)], end: 4 * SECOND, finalisedTo: 0 });
    expect(bench.state.checkpoint).toBe(0);
    hear(bench);
    expect(bench.state.segments).toHaveLength(3);
    hear(bench);
    expect(bench.state.segments).toHaveLength(3);
  });
});
