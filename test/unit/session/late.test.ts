import { describe, expect, it } from "vitest";
import { GAP_WAIT } from "../../../src/session/decide-audio.ts";
import type { Signs } from "../../../src/session/device-signs.ts";
import { PATIENCE } from "../../../src/session/limits.ts";
import { giveUp, recorded, reread, wordsOf } from "../../support/late-session.ts";
import { SECOND, SessionBench, segment } from "../../support/session-bench.ts";

const byUserId = "u";

describe("late audio: numbers", () => {
  it("late audio: two second readings of one number take none of each other's words away", () => {
    const bench = recorded(6, [2, 3]);
    bench.chunk(2);
    bench.chunk(3);
    const first = [segment(4 * SECOND, 5 * SECOND, 0)];
    const attempt = bench.state.attempts + 1;
    reread(bench, { attempt, to: 6 * SECOND, sequences: [2], segments: first });
    const both = [...first, segment(6 * SECOND, 7 * SECOND, 0)];
    reread(bench, { attempt, to: 8 * SECOND, sequences: [3], segments: both });
    const [one, two] = bench.of("TranscriptReplaced");
    const added = new Set(two?.added.map(({ segmentId }) => segmentId));
    expect(two?.removed.filter(({ segmentId }) => added.has(segmentId))).toEqual([]);
    expect(two?.attempt).toBeGreaterThan(one?.attempt ?? 0);
  });

  it("late audio: a redo that is asked for while it is read again has another number", () => {
    const bench = recorded(4, [2]);
    bench.chunk(2);
    const attempt = bench.state.attempts + 1;
    bench.run({ type: "Redo", byUserId });
    const segments = [segment(4 * SECOND, 5 * SECOND, 0)];
    reread(bench, { attempt, sequences: [2], segments });
    const redo = bench.state.redo?.attempt ?? 0;
    reread(bench, { attempt: redo, whole: true, segments });
    const [late, whole] = bench.of("TranscriptReplaced");
    expect(late?.added[0]?.segmentId).not.toBe(whole?.added[0]?.segmentId);
    expect(bench.state.segments.map(({ id }) => id)).toEqual([whole?.added[0]?.segmentId]);
    expect(bench.state.attempts).toBe(late?.attempt);
  });
});

describe("late audio: the end", () => {
  it("late audio: what is missing at the end has no length, and takes that of what comes", () => {
    const bench = recorded(6, [3, 4, 5]);
    expect(bench.of("GapDeclared")).toMatchObject(
      [3, 4, 5].map((sequence) => ({ sequence, start: 6 * SECOND, length: 0, tail: true })),
    );
    expect(bench.state.phase).toBe("completed");
    bench.chunk(3, 7);
    expect(bench.of("ChunkPlaced").at(-1)).toMatchObject({
      sequence: 3,
      start: 6 * SECOND,
      length: 7 * SECOND,
    });
    expect(bench.state.timeline).toMatchObject({ next: 4, position: 13 * SECOND });
    // The first reading is over: it is none of its chunks.
    expect(bench.state.timeline.open).toEqual([]);
    expect(bench.state.timeline.gaps).toMatchObject([{ sequence: 3, chunkId: "c3" }]);
  });

  it("late audio: a session that was stopped before its first chunk gets all of them", () => {
    const bench = recorded(3, [0, 1, 2]);
    expect(bench.state.timeline.position).toBe(0);
    for (const sequence of [2, 1, 0]) bench.chunk(sequence, 5);
    expect(bench.of("ChunkPlaced").map(({ start, length }) => [start, length])).toEqual(
      [0, 5, 10].map((start) => [start * SECOND, 5 * SECOND]),
    );
    expect(bench.of("LateAudioDue")).toEqual([{ type: "LateAudioDue", sequences: [0, 1, 2] }]);
    const segments = [segment(SECOND, 2 * SECOND, 0), segment(12 * SECOND, 13 * SECOND, 0)];
    reread(bench, { sequences: [0, 1, 2], segments });
    expect(bench.of("ChunkTranscribed").map(({ sequence }) => sequence)).toEqual([0, 1, 2]);
    expect(bench.state.timeline.gaps).toEqual([]);
    expect(bench.state.segments).toHaveLength(2);
  });

  it("late audio: what is still missing before the first to come gets the usual length", () => {
    const bench = recorded(4, [0, 1, 2, 3]);
    bench.chunk(2, 3);
    giveUp(bench);
    expect(bench.of("GapDeclared").slice(4)).toMatchObject([
      { sequence: 0, start: 0, length: 3 * SECOND },
      { sequence: 1, start: 3 * SECOND, length: 3 * SECOND },
      { sequence: 3, start: 9 * SECOND, length: 0, tail: true },
    ]);
    expect(bench.state.timeline.position).toBe(9 * SECOND);
  });

  it("late audio: the first that can be read mends a failed session, at its end too", () => {
    const bench = new SessionBench().start();
    const frames = 2 * SECOND;
    const chunk = { type: "ChunkStored", chunkId: "c0", sequence: 0, frames } as const;
    bench.run({ ...chunk, sampleRate: SECOND, unreadable: "no audio" });
    bench.run({ type: "Stop", lastSequence: 1 });
    giveUp(bench);
    const none = { segments: [], merges: [] };
    bench.run({ type: "RecognitionDone", attempt: 1, speakers: none });
    expect(bench.state.phase).toBe("failed");
    bench.chunk(1, 4);
    const segments = [segment(3 * SECOND, 5 * SECOND, 0)];
    reread(bench, { sequences: [1], segments });
    expect(bench.state.phase).toBe("completed");
    expect(bench.of("JobCompleted")[0]).toMatchObject({ segmentCount: 1, durationMs: 6_000 });
  });
});

describe("late audio: where it is read from", () => {
  it("late audio: once all was read only what is missing keeps the recogniser's state", () => {
    const keptBy = (bench: SessionBench) =>
      bench.writes.flatMap((write) => ("keep" in write ? [write.keep] : [])).at(-1);
    const whole = recorded(3, []);
    expect(keptBy(whole)).toEqual([]);
    const bench = recorded(5, [1, 3]);
    expect(keptBy(bench)).toEqual([1, 5].map((seconds) => seconds * SECOND));
    for (const [sequence, left] of [
      [1, [5 * SECOND]],
      [3, []],
    ] as const) {
      bench.chunk(sequence);
      reread(bench, { sequences: [sequence] });
      expect(keptBy(bench)).toEqual(left);
    }
  });
});

describe("late audio: patience", () => {
  const alive: Signs = { heardAgo: PATIENCE.silence - 1, chunkAgo: 0, openChunks: [] };

  it.each([
    ["its device lives", alive, 0],
    ["no chunk ever came of a device that lives", { ...alive, chunkAgo: undefined }, 0],
    ["its device is silent", { ...alive, heardAgo: PATIENCE.silence }, 2],
    ["no chunk has come for long", { ...alive, chunkAgo: PATIENCE.chunk }, 2],
  ])("late audio: after the stop, when %s", (_, signs, gaps) => {
    const bench = new SessionBench().start();
    bench.chunk(0);
    bench.run({ type: "Stop", lastSequence: 2 });
    bench.now += gaps > 0 ? PATIENCE.chunk : GAP_WAIT;
    bench.run({ type: "GapTimeout", sequence: 1, signs });
    expect(bench.of("GapDeclared")).toHaveLength(gaps);
  });

  it("late audio: while somebody may read along, ten seconds are waited for any device", () => {
    const bench = new SessionBench().start();
    bench.chunk(1);
    bench.now += GAP_WAIT;
    bench.run({ type: "GapTimeout", sequence: 0, signs: alive });
    expect(bench.of("GapDeclared")).toHaveLength(1);
  });

  it("late audio: what was streamed is not missing while it waits to be made a chunk", () => {
    const bench = new SessionBench().start();
    const gone: Signs = { heardAgo: PATIENCE.silence, chunkAgo: PATIENCE.chunk, openChunks: [0] };
    bench.chunk(1);
    bench.run({ type: "Stop", lastSequence: 1 });
    bench.now += GAP_WAIT + PATIENCE.chunk - 1;
    bench.run({ type: "GapTimeout", sequence: 0, signs: gone });
    expect(bench.of("GapDeclared")).toEqual([]);
    bench.now += 1;
    bench.run({ type: "GapTimeout", sequence: 0, signs: gone });
    expect(bench.of("GapDeclared")).toHaveLength(1);
  });

  it("late audio: late chunks wait for one another, until none comes any more or it takes long", () => {
    const bench = recorded(9, [2, 3, 4, 6]);
    bench.chunk(2);
    bench.now += 5_999;
    bench.run({ type: "LateTimeout", signs: alive });
    bench.chunk(3);
    bench.now += 5_999;
    bench.run({ type: "LateTimeout", signs: alive });
    expect(bench.of("LateAudioDue")).toEqual([]);
    bench.now += 1;
    bench.run({ type: "LateTimeout", signs: alive });
    expect(bench.of("LateAudioDue")).toMatchObject([{ sequences: [2, 3] }]);
    bench.chunk(4);
    bench.run({ type: "LateTimeout", signs: { ...alive, heardAgo: PATIENCE.silence } });
    expect(bench.of("LateAudioDue").at(-1)).toMatchObject({ sequences: [4] });
    bench.chunk(6);
    // Nothing is missing any more.
    expect(bench.of("LateAudioDue").at(-1)).toMatchObject({ sequences: [6] });
  });
});

describe("late audio: what people did", () => {
  /** Said at 0, 1 and 2 s of the first chunk; the second one is missing. */
  function told(): SessionBench {
    const bench = new SessionBench().start();
    bench.chunk(0, 4);
    bench.utterance(
      [0, 1, 2].map((at) => segment(at * SECOND, (at + 1) * SECOND, at % 2)),
      4 * SECOND,
    );
    bench.chunk(2, 4);
    bench.now += GAP_WAIT;
    bench.run({ type: "GapTimeout", sequence: 1 });
    bench.utterance([segment(9 * SECOND, 10 * SECOND, 0)], 12 * SECOND);
    bench.run({ type: "Stop", lastSequence: 2 });
    bench.run({ type: "RecognitionDone", attempt: 1, speakers: { segments: [], merges: [] } });
    return bench;
  }

  function edit(bench: SessionBench, index: number): string {
    const segmentId = bench.state.segments[index]?.id ?? "";
    bench.run({ type: "EditSegment", segmentId, editId: "e", label: "", byUserId });
    return segmentId;
  }

  const spoken = (start: number, texts: readonly string[]) => ({
    ...segment(start * SECOND, (start + texts.length) * SECOND, 0),
    words: texts.map((text, n) => {
      const at = (start + n) * SECOND;
      return { text, start: at, end: at + SECOND, confidence: 0.5 };
    }),
  });

  it("late audio: an edited segment stays, and new words are put around it", () => {
    const bench = told();
    const edited = edit(bench, 1);
    bench.chunk(1, 4);
    const segments = [spoken(0, ["a", "b", "c"]), spoken(4, ["late"])];
    reread(bench, { to: 8 * SECOND, sequences: [1], segments });
    const { removed, editsReplaced } = bench.of("TranscriptReplaced")[0] ?? {};
    expect(removed?.map(({ segmentId }) => segmentId)).not.toContain(edited);
    expect(editsReplaced).toBeUndefined();
    expect(bench.state.segments.map(({ start, end }) => [start / SECOND, end / SECOND])).toEqual([
      [0, 1],
      [1, 2],
      [2, 3],
      [4, 5],
      [9, 10],
    ]);
    expect(bench.state.segments[1]).toMatchObject({ id: edited, revision: 2 });
    expect(wordsOf(bench)).toEqual(["a", "word", "c", "late", "word"]);
  });

  it("late audio: claims and merges stay with what was said at the time", () => {
    const bench = told();
    const claim = { type: "Claim", label: "S1", source: "self_claim", byUserId } as const;
    bench.run({ ...claim, claimedUserId: byUserId, byOwner: false });
    bench.run({ type: "MergeSpeakers", from: "S2", into: "S1" });
    bench.chunk(1, 4);
    const other = segment(4 * SECOND, 5 * SECOND, 7);
    const segments = [segment(0, SECOND, 5), segment(SECOND, 2 * SECOND, 6), other];
    reread(bench, { to: 8 * SECOND, sequences: [1], segments, voices: {} });
    expect(bench.state.segments.map(({ label }) => label)).toEqual(["S1", "S1", "S3", "S1"]);
    expect(bench.state.speakers.labels[0]?.claim?.claimedUserId).toBe(byUserId);
  });

  it("late audio: only a redo replaces edits, and tells how many before and after", () => {
    const bench = told();
    edit(bench, 0);
    expect(bench.run({ type: "Redo", byUserId })).toEqual({ attempt: 2, edits: 1 });
    edit(bench, 2);
    reread(bench, { whole: true, attempt: 2, segments: [spoken(0, ["a"])] });
    expect(bench.of("TranscriptReplaced")[0]?.editsReplaced).toBe(2);
    expect(bench.state.segments).toHaveLength(1);
  });

  it("late audio: what another reading could not read stands as it was heard before", () => {
    const unread = [{ start: 8 * SECOND, end: 12 * SECOND }];
    const late = told();
    late.chunk(1, 4);
    const segments = [spoken(0, ["a", "b"]), spoken(4, ["late"])];
    reread(late, { sequences: [1], segments, unread });
    expect(wordsOf(late)).toEqual(["a", "b", "late", "word"]);

    const again = told();
    again.run({ type: "Redo", byUserId });
    reread(again, { whole: true, attempt: 2, segments: [spoken(0, ["a", "b"])], unread });
    expect(wordsOf(again)).toEqual(["a", "b", "word"]);
  });

  it("late audio: in a redacted span it has no words from its first moment on", () => {
    const bench = told();
    const span = { from: 4 * SECOND, to: 8 * SECOND };
    bench.run({ type: "Redact", redactionId: "r", ...span, label: "", byUserId });
    bench.chunk(1, 20);
    const beyond = { ...spoken(7, ["beyond"]), start: 8 * SECOND - 1, end: 8 * SECOND };
    const segments = [spoken(4, ["late"]), beyond];
    reread(bench, { to: 8 * SECOND, sequences: [1], segments });
    const added = bench.of("TranscriptReplaced")[0]?.added;
    expect(added?.map(({ redacted }) => redacted)).toEqual([true, true]);
    const texts = bench.writes.filter((write) => write.type === "SegmentText").slice(-2);
    expect(texts.map(({ redacted }) => redacted)).toEqual([true, true]);
  });

  it("late audio: an utterance whose pauses alone reach into a redacted span keeps its words", () => {
    const bench = told();
    const redact = (redactionId: string, from: number, to: number) =>
      bench.run({
        ...{ type: "Redact", redactionId, label: "", byUserId },
        ...{ from: from * SECOND, to: to * SECOND },
      });
    redact("between two words", 4.5, 5);
    redact("before the first word", 6, 6.5);
    redact("in a word", 7.4, 7.5);
    bench.chunk(1, 20);
    const said = (start: number, end: number, ...words: [string, number, number][]) => ({
      ...segment(start * SECOND, end * SECOND, 0),
      words: words.map(([text, from, to]) => ({
        ...{ text, start: from * SECOND, end: to * SECOND },
        confidence: 1,
      })),
    });
    const segments = [
      said(4, 5.9, ["before", 4, 4.4], ["after", 5.1, 5.9]),
      said(6.3, 7, ["begun", 6.6, 7]),
      said(7, 8, ["taken", 7, 7.45], ["along", 7.6, 8]),
    ];
    reread(bench, { to: 8 * SECOND, sequences: [1], segments });
    const texts = bench.writes.filter((write) => write.type === "SegmentText").slice(-4);
    const placed = texts.map(({ start, end, words, redacted }) => [
      ...[start / SECOND, end / SECOND],
      ...[words.map(({ text }) => text).join(" "), redacted],
    ]);
    expect(placed).toEqual([
      [4, 4.5, "before", false],
      [5, 5.9, "after", false],
      [6.5, 7, "begun", false],
      [7, 8, "taken along", true],
    ]);
  });

  it("late audio: what stands at the end of its place has a start of its own", () => {
    const bench = told();
    bench.chunk(1, 20);
    const at = { start: 8 * SECOND - 1, end: 8 * SECOND };
    const clamped = (text: string) => ({
      ...segment(at.start, at.end, 0),
      words: [{ text, ...at, confidence: 1, timesClamped: true }],
    });
    const segments = [spoken(4, ["late"]), clamped("longer"), clamped("longest")];
    reread(bench, { to: 8 * SECOND, sequences: [1], segments });
    const starts = bench.state.segments.map(({ start }) => start);
    expect(new Set(starts).size).toBe(starts.length);
    expect(wordsOf(bench).slice(-4)).toEqual(["late", "longer", "longest", "word"]);
  });
});

describe("late audio: where a word is cut", () => {
  it("late audio: a word that reaches over the end of what is read again ends where the rest stands", () => {
    const bench = new SessionBench().start();
    bench.chunk(0);
    bench.chunk(2);
    bench.now += GAP_WAIT;
    bench.run({ type: "GapTimeout", sequence: 1 });
    const rest = segment(4 * SECOND, 4 * SECOND + 190, 0);
    bench.utterance([segment(SECOND, 2 * SECOND, 0), rest], 6 * SECOND);
    bench.chunk(1);
    const whole = segment(3.5 * SECOND, rest.end, 0);
    reread(bench, { from: 2 * SECOND, to: rest.start, sequences: [1], segments: [whole] });
    const ends = bench.state.segments.map(({ start, end }) => [start, end]);
    expect(ends.slice(1)).toEqual([
      [3.5 * SECOND, rest.start],
      [rest.start, rest.end],
    ]);
    const words = bench.writes.flatMap((write) =>
      write.type === "SegmentText" ? write.words : [],
    );
    expect(words.at(-1)).toMatchObject({ start: 3.5 * SECOND, end: rest.start });
  });
});

describe("late audio: beside the first reading", () => {
  it("late audio: nothing is given beyond what that has finalised, and the rest stays to be read", () => {
    const bench = new SessionBench().start();
    bench.chunk(0);
    bench.chunk(3);
    bench.now += GAP_WAIT;
    bench.run({ type: "GapTimeout", sequence: 1 });
    bench.utterance([segment(SECOND, 2 * SECOND, 0)], 2 * SECOND);
    bench.chunk(1);
    bench.chunk(2);
    expect(bench.state.timeline.next).toBe(4);
    const both = [segment(3 * SECOND, 3.5 * SECOND, 0), segment(6.5 * SECOND, 7.5 * SECOND, 0)];
    reread(bench, { from: 2 * SECOND, sequences: [1, 2], segments: both });
    expect(bench.of("TranscriptReplaced")[0]).toMatchObject({ to: 6 * SECOND });
    expect(bench.state.segments.map(({ start }) => start / SECOND)).toEqual([1, 3]);
    bench.utterance([segment(6.6 * SECOND, 7.5 * SECOND, 0)], 8 * SECOND);
    expect(bench.state.segments.map(({ start }) => start / SECOND)).toEqual([1, 3, 6.6]);
  });

  it("late audio: the first reading says nothing again where a second one was, whatever its boundaries", () => {
    const bench = new SessionBench().start();
    bench.chunk(0);
    bench.chunk(2);
    bench.now += GAP_WAIT;
    bench.run({ type: "GapTimeout", sequence: 1 });
    bench.utterance([segment(SECOND, 2 * SECOND, 0)], 2 * SECOND);
    bench.chunk(1);
    const segments = [segment(2 * SECOND, 3 * SECOND, 0)];
    reread(bench, { from: 2 * SECOND, to: 4 * SECOND, sequences: [1], segments });
    // Taken up by another host from the checkpoint before, it reads what is no gap any more.
    bench.utterance([segment(2.1 * SECOND, 3.1 * SECOND, 0)], 4 * SECOND);
    expect(bench.state.segments.map(({ start }) => start / SECOND)).toEqual([1, 2]);
  });
});
