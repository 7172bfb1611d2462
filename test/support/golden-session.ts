import { GAP_WAIT } from "../../src/session/decide-audio.ts";
import type { SessionEvent } from "../../src/session/event.ts";
import { SECOND, SessionBench, segment } from "./session-bench.ts";

export interface GoldenEvent {
  seq: number;
  at: number;
  event: SessionEvent;
}

export interface GoldenSession {
  bench: SessionBench;
  events: GoldenEvent[];
}

/** A session in which everything happens that can; ends before its deletion. */
export function playGoldenSession(): GoldenSession {
  const bench = new SessionBench();
  const events: GoldenEvent[] = [];
  const step = (work: () => void): void => {
    bench.now += 1_000;
    work();
    for (const event of bench.events.slice(events.length)) {
      events.push({ seq: events.length + 1, at: bench.now, event });
    }
  };
  bench.now = 1_700_000_000_000;
  record(bench, step);
  edit(bench, step);
  return { bench, events };
}

function record(bench: SessionBench, step: (work: () => void) => void): void {
  step(() => bench.start());
  step(() => {
    const opened = {
      engine: "moonshine-tiny-en",
      diarisationModelVersion: "d1",
      detectedLanguage: "en",
    };
    bench.run({ type: "RecognitionOpened", ...opened });
  });
  step(() => bench.chunk(0));
  step(() => bench.chunk(1, 2, 8_000));
  step(() => bench.chunk(3));
  step(() => bench.utterance([segment(0, SECOND, 0), segment(SECOND, 2 * SECOND, 1)], 2 * SECOND));
  const byUserId = "u";
  const claim = { type: "Claim", claimedUserId: "u", byUserId, byOwner: true } as const;
  step(() => bench.run({ ...claim, label: "S1", source: "self_claim" }));
  step(() => bench.run({ ...claim, label: "S2", source: "moderator_assignment" }));
  step(() => bench.run({ type: "Unclaim", label: "S1", byUserId, byOwner: false }));
  for (const label of ["S1", "S2"]) {
    step(() => bench.run({ type: "NameSpeaker", label, nameId: `n${label}`, byUserId }));
  }
  step(() => bench.run({ type: "NameSpeaker", label: "S1", nameId: "", byUserId }));
  bench.now += GAP_WAIT;
  step(() => bench.run({ type: "GapTimeout", sequence: 2 }));
  step(() => bench.run({ type: "ChunkFailed", sequence: 1, code: "not_audio", message: "broken" }));
}

function edit(bench: SessionBench, step: (work: () => void) => void): void {
  const byUserId = "u";
  step(() =>
    bench.run({
      type: "Redact",
      redactionId: "r1",
      from: 7 * SECOND,
      to: 9 * SECOND,
      label: "S2",
      byUserId,
    }),
  );
  step(() => bench.utterance([segment(6 * SECOND, 8 * SECOND, 2)], 8 * SECOND));
  step(() => bench.chunk(2));
  step(() => bench.run({ type: "Stop", lastSequence: 3, reason: "device_silent" }));
  step(() => reread(bench, 2));
  step(() =>
    bench.run({
      type: "RecognitionDone",
      attempt: 1,
      speakers: { segments: [{ start: SECOND, cluster: 0 }], merges: [{ from: 2, into: 1 }] },
    }),
  );
  const [first] = bench.state.segments;
  const change = { type: "EditSegment", segmentId: first?.id ?? "", byUserId } as const;
  step(() => bench.run({ ...change, editId: "e1", label: "" }));
  step(() => bench.run({ ...change, editId: "", label: "S2" }));
  const merged = { from: "S2", into: "S1", byUserId };
  step(() => bench.run({ type: "MergeSpeakers", ...merged }));
  step(() => bench.run({ type: "UnmergeSpeakers", ...merged }));
  const whole = { segmentIds: [first?.id ?? ""], into: "", byUserId };
  step(() => bench.run({ type: "ReassignSegments", ...whole, from: "S2" }));
  step(() => bench.run({ type: "SummaryStored", jobId: "j2", summaryType: "brief" }));
  step(() => bench.run({ type: "ConcernStored", concernId: "c1" }));
  step(() => bench.run({ type: "GuestStored", guestId: "g1" }));
  const mark = { type: "AnnotationStored", annotationType: "mark", annotationId: "m1" } as const;
  step(() => bench.run(mark));
  step(() => bench.run({ ...mark, removed: true }));
  step(() => bench.run({ type: "Redo", byUserId }));
  step(() => bench.run({ type: "CancelRedo", byUserId }));
  for (const choice of ["discarded", "accepted"] as const) {
    step(() => bench.run({ type: "RedoForReview", byUserId }));
    step(() => propose(bench));
    const attempt = bench.state.candidate?.attempt ?? 0;
    step(() => bench.run({ type: "ReviewRedo", attempt, choice, byUserId }));
  }
  step(() => bench.run({ type: "Redo", byUserId }));
  // A session with words ends otherwise; snapshots must know these all the same.
  const message = "None of the audio could be read.";
  step(() =>
    bench.record({ type: "JobFailed", jobId: "j", attempt: bench.state.attempts, message }),
  );
  step(() => bench.record({ type: "SessionFailed", message }));
  step(() => giveUpTail(bench, 4));
  step(() => bench.chunk(5));
  const piece = { chunkId: "c4", sequence: 4, frames: 0, sampleRate: 16_000 };
  step(() => bench.run({ type: "ChunkStored", ...piece, unmeasured: true }));
  const length = { frames: 2 * SECOND, sampleRate: SECOND };
  step(() => bench.run({ type: "ChunkMeasured", sequence: 4, ...length }));
}

/** The result of a redo that waits. */
function propose(bench: SessionBench): void {
  const attempt = bench.state.redo?.attempt ?? 0;
  const whole = { whole: true, from: 0, to: Number.MAX_SAFE_INTEGER, sequences: [] };
  const segments = [segment(0, SECOND, 0), segment(SECOND, 3 * SECOND, 3)];
  bench.run({ type: "Reread", attempt, ...whole, segments });
}

/** As if the stop had named one more: its chunk never comes, that of the next one does. */
function giveUpTail(bench: SessionBench, sequence: number): void {
  const { position } = bench.state.timeline;
  const gap = { type: "GapDeclared", start: position, length: 0, tail: true } as const;
  const pin = bench.state.checkpoint;
  for (const each of [sequence, sequence + 1]) {
    bench.record({ ...gap, sequence: each, pin, knownClusters: 3 });
  }
}

/** The late chunk, read from its gap. */
function reread(bench: SessionBench, sequence: number): void {
  const gap = bench.state.timeline.gaps.find((each) => each.sequence === sequence);
  if (gap === undefined) throw new Error("there is no gap");
  const attempt = bench.state.attempts + 1;
  const { start, length } = gap;
  const segments = [segment(start, start + SECOND, 0)];
  const from = start;
  const to = start + length;
  bench.run({ type: "Reread", attempt, whole: false, from, to, sequences: [sequence], segments });
}
