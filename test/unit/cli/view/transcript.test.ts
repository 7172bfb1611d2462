import { describe, expect, it } from "vitest";
import { remarkOn } from "../../../../src/cli/commands/follow-session.ts";
import { PlainView } from "../../../../src/cli/view/plain-view.ts";
import { lineOfSegment, Transcript } from "../../../../src/cli/view/transcript.ts";
import { parseFrames } from "../../../../src/client/frames.ts";
import type {
  FinalResultsFrame,
  InterimResultsFrame,
  SnapshotFrame,
} from "../../../../src/wire/live-frames.ts";

/** What a view writes. */
class Written {
  text = "";

  write(text: string): void {
    this.text += text;
  }
}

const SESSION = "s";
const base = { session_id: SESSION, at: "2026-01-01T00:00:00.000Z" };
const words = (text: string) =>
  text.split(" ").map((word) => ({ word, start: 0, end: 1, confidence: 1, speaker: "S1" }));

function interim(id: string, revision: number, transcript: string): InterimResultsFrame {
  return {
    ...{
      type: "Results",
      is_final: false,
      stable_words: 0,
      session_id: SESSION,
      segment_id: id,
      revision,
    },
    ...{ start: 1, duration: 1, transcript, confidence: 0.5, speaker: "UU", words: [] },
  };
}

function final(seq: number, id: string, start: number, text: string): FinalResultsFrame {
  return {
    ...{ type: "Results", is_final: true, ...base, seq, segment_id: id, revision: 9, start },
    ...{ duration: 1, transcript: text, confidence: 0.9, speaker: "S1", words: words(text) },
  };
}

function snapshot(seq: number, segments: SnapshotFrame["segments"]): SnapshotFrame {
  const session = {
    ...{ id: SESSION, workspace_id: "w", title: "", language: "en" },
    ...{ status: "recording" as const, started_at: base.at },
  };
  return { type: "Snapshot", session_id: SESSION, seq, session, speakers: [], segments };
}

describe("cli transcript: growing", () => {
  it("lets an interim give way to its final, and keeps late interims out", () => {
    const transcript = new Transcript();
    transcript.apply(interim("a", 1, "good"));
    transcript.apply(interim("a", 3, "good morning"));
    transcript.apply(interim("a", 2, "goo"));
    expect(transcript.interims.map(({ text }) => text)).toEqual(["good morning"]);
    const change = transcript.apply(final(1, "a", 1, "good morning everyone"));
    expect(change.finals.map(({ text }) => text)).toEqual(["good morning everyone"]);
    transcript.apply(interim("a", 4, "late"));
    expect(transcript.interims).toEqual([]);
    expect(transcript.wordCount).toBe(3);
  });

  it("orders lines by time whatever order they came in", () => {
    const transcript = new Transcript();
    transcript.apply(final(1, "b", 5, "two"));
    transcript.apply(final(2, "a", 1, "one"));
    expect(transcript.finals.map(({ text }) => text)).toEqual(["one", "two"]);
  });

  it("follows revisions, merges and claims of speakers", () => {
    const transcript = new Transcript();
    transcript.apply(final(1, "a", 1, "one"));
    transcript.apply(final(2, "b", 2, "two"));
    const change = transcript.apply({
      ...{ type: "SpeakerRevision", ...base, seq: 3, merges: [{ from: "S1", into: "S2" }] },
      revisions: [{ segment_id: "b", speaker: "S3" }],
    });
    expect(change.relabelled.map(({ line, from }) => [line.id, from, line.speaker])).toEqual([
      ["a", "S1", "S2"],
      ["b", "S1", "S3"],
    ]);
    expect(transcript.speakers).toEqual(["S2", "S3"]);
    const claim = { type: "SpeakerClaimed" as const, ...base, seq: 4, speaker_label: "S2" };
    transcript.apply({ ...claim, display_name: "Anna", revoked: false });
    expect(transcript.nameOf("S2")).toBe("Anna");
    transcript.apply({ ...claim, revoked: true });
    expect(transcript.nameOf("S2")).toBe("S2");
  });

  it("shows a free name until somebody claims the label, and again when they give it back", () => {
    const transcript = new Transcript();
    const label = { ...base, speaker_label: "S2" };
    transcript.apply({ type: "SpeakerNamed", ...label, seq: 1, free_name: "The chair" });
    expect(transcript.nameOf("S2")).toBe("The chair");
    const claim = { type: "SpeakerClaimed" as const, ...label };
    transcript.apply({ ...claim, seq: 2, display_name: "Anna", revoked: false });
    expect(transcript.nameOf("S2")).toBe("Anna");
    transcript.apply({ ...claim, seq: 3, revoked: true });
    expect(transcript.nameOf("S2")).toBe("The chair");
    transcript.apply({ type: "SpeakerNamed", ...label, seq: 4 });
    expect(transcript.nameOf("S2")).toBe("S2");
  });

  it("takes names from a snapshot, with those below claims", () => {
    const transcript = new Transcript();
    const seen = snapshot(1, []);
    const claimed = { speaker_label: "S1", claimed_user_id: "u", display_name: "Anna" };
    const named = { speaker_label: "S2", display_name: "Guide", free_name: "Guide" };
    transcript.apply({ ...seen, speakers: [{ ...claimed, free_name: "The chair" }, named] });
    expect([transcript.nameOf("S1"), transcript.nameOf("S2")]).toEqual(["Anna", "Guide"]);
    const revoked = { type: "SpeakerClaimed" as const, ...base, revoked: true };
    transcript.apply({ ...revoked, seq: 2, speaker_label: "S1" });
    transcript.apply({ type: "SpeakerNamed", ...base, seq: 3, speaker_label: "S2" });
    expect([transcript.nameOf("S1"), transcript.nameOf("S2")]).toEqual(["The chair", "S2"]);
  });

  it("keeps the names of merged labels with the one that survives", () => {
    const transcript = new Transcript();
    const claim = { type: "SpeakerClaimed" as const, ...base, revoked: false };
    transcript.apply({ ...claim, seq: 1, speaker_label: "S2", display_name: "Anna" });
    const free = { type: "SpeakerNamed" as const, ...base };
    transcript.apply({ ...free, seq: 2, speaker_label: "S3", free_name: "The chair" });
    transcript.apply({ ...free, seq: 3, speaker_label: "S4", free_name: "Guide" });
    const merges = [
      { from: "S2", into: "S1" },
      { from: "S4", into: "S3" },
    ];
    transcript.apply({ type: "SpeakerRevision", ...base, seq: 4, merges, revisions: [] });
    const names = ["S1", "S2", "S3", "S4"].map((label) => transcript.nameOf(label));
    expect(names).toEqual(["Anna", "S2", "The chair", "S4"]);
  });

  it("takes a snapshot as the whole truth, and tells only what is new", () => {
    const transcript = new Transcript();
    const { start, duration, transcript: text, confidence, speaker } = final(1, "a", 1, "one");
    const known = { segment_id: "a", revision: 1, start, duration, confidence, speaker };
    transcript.apply(final(1, "a", 1, "one"));
    const change = transcript.apply(
      snapshot(2, [
        { ...known, transcript: text },
        { ...known, segment_id: "b", transcript: "two" },
      ]),
    );
    expect(change.finals.map(({ id }) => id)).toEqual(["b"]);
    expect(transcript.ended).toBe(false);
  });

  it("tells who speaks within a line as well, by the names and labels that they have now", () => {
    const transcript = new Transcript();
    const overlaps = [{ speaker: "S2", segment_id: "b", start: 1.2, end: 1.7 }];
    const plain = new Written();
    const view = new PlainView(plain);
    transcript.apply({ ...final(1, "b", 2, "two"), speaker: "S2" });
    view.update(
      transcript,
      transcript.apply({ ...final(2, "a", 1, "one"), also_speaking: ["S2"], overlaps }),
    );
    expect(plain.text).toBe("00:01  S1  one (S2 speaks at the same time)\n");
    const beside = () => transcript.finals.map((line) => transcript.besides(line));
    expect(beside()).toEqual([["S2"], []]);
    const named = { type: "SpeakerNamed" as const, ...base, seq: 3, speaker_label: "S2" };
    transcript.apply({ ...named, free_name: "Ben" });
    expect(beside()).toEqual([["Ben"], []]);
    const revision = { type: "SpeakerRevision" as const, ...base, merges: [] };
    transcript.apply({ ...revision, seq: 4, revisions: [{ segment_id: "b", speaker: "S1" }] });
    expect(beside(), "the same voice").toEqual([[], []]);
    const listed = { id: "c", start_ms: 3_000, speaker_label: "S3", text: "three", words: [] };
    const resource = { speaker_label: "S1", segment_id: "b", start_ms: 3_100, end_ms: 3_400 };
    transcript.replaceFinals([
      ...transcript.finals,
      lineOfSegment({ ...listed, overlaps: [resource] }),
    ]);
    expect(beside()).toEqual([[], [], ["S1"]]);
  });

  it("knows which speakers are guesses, until a revision, a merge or a person says who it was", () => {
    const transcript = new Transcript();
    const said = (seq: number, id: string, speaker: string, sure: number | null) =>
      transcript.apply({ ...final(seq, id, seq, id), speaker, speaker_confidence: sure });
    const guesses = () => transcript.finals.filter(({ unsure }) => unsure).map(({ id }) => id);
    said(1, "a", "S1", 0.5);
    said(2, "b", "S2", 0.59);
    said(3, "c", "S3", 0.1);
    said(4, "d", "S3", 0.6);
    said(5, "e", "S4", null);
    expect(guesses()).toEqual(["a", "b", "c"]);
    const revisions = [{ segment_id: "c", speaker: "S4" }];
    transcript.apply({ type: "SpeakerRevision", ...base, seq: 6, merges: [], revisions });
    expect(guesses()).toEqual(["a", "b"]);
    const merges = [{ from: "S4", into: "S1" }];
    transcript.apply({ type: "SpeakerRevision", ...base, seq: 7, merges, revisions: [] });
    expect(guesses()).toEqual(["b"]);
    const segment = { id: "b", start_ms: 2000, end_ms: 3000, speaker_label: "S2", text: "b" };
    transcript.replaceFinals([lineOfSegment({ ...segment, speaker_confidence: 0.2 })]);
    expect(guesses()).toEqual(["b"]);
    transcript.replaceFinals([lineOfSegment({ ...segment, speaker_confidence: null })]);
    expect(guesses()).toEqual([]);
  });

  it("asks for the text again when it was re-derived", () => {
    const transcript = new Transcript();
    transcript.apply(final(1, "a", 1, "one"));
    const replaced = {
      ...{ type: "TranscriptReplaced" as const, ...base, seq: 2, job_id: "j" },
      ...{ span: { start: 0, end: 2 }, removed_segment_ids: ["a"], segment_ids: ["c"] },
      edits_replaced: 0,
    };
    expect(transcript.apply(replaced).stale).toBe(true);
    expect(transcript.finals).toEqual([]);
    const segment = { id: "c", start_ms: 1500, end_ms: 2000, speaker_label: "S1", text: "a new" };
    expect(transcript.replaceFinals([lineOfSegment(segment)]).finals[0]?.start).toBe(1.5);
    expect(transcript.wordCount).toBe(2);
  });

  it("tells of guests who join, and of edits that a new reading replaced", () => {
    const frame = {
      ...{ type: "TranscriptReplaced" as const, ...base, seq: 2, job_id: "j" },
      ...{ span: { start: 0, end: 2 }, removed_segment_ids: ["a"], segment_ids: ["c"] },
    };
    const joined = { session_id: "s", seq: 9, at: "", guest_id: "g", display_name: "Gus" };
    expect(remarkOn({ type: "GuestJoined", ...joined })).toBe("Gus joined as a guest.");
    expect([0, 1, 3].map((edits_replaced) => remarkOn({ ...frame, edits_replaced }))).toEqual([
      undefined,
      "The session was recognised once more: 1 edited segment was replaced.",
      "The session was recognised once more: 3 edited segments were replaced.",
    ]);
  });

  it("ends when all of the session was sent, or it was deleted", () => {
    const transcript = new Transcript();
    transcript.apply(interim("a", 1, "half"));
    transcript.apply({ type: "SessionStatus", ...base, seq: 1, status: "processing" });
    expect(transcript.ended).toBe(false);
    transcript.apply({ type: "SessionStatus", ...base, seq: 2, status: "completed" });
    expect([transcript.ended, transcript.status]).toEqual([false, "completed"]);
    expect(transcript.interims).toEqual([]);
    transcript.apply({ type: "SessionEnded", session_id: SESSION, status: "completed", seq: 2 });
    expect(transcript.ended).toBe(true);
    const deleted = new Transcript();
    deleted.apply({ type: "SessionStatus", ...base, seq: 1, status: "deleted" });
    expect(deleted.ended).toBe(true);
  });
});

describe("cli frames: parsing", () => {
  it("takes one frame or several of a message, and leaves out what is none", () => {
    const frame = interim("a", 1, "x");
    expect(parseFrames(JSON.stringify(frame))).toEqual([frame]);
    expect(parseFrames(JSON.stringify([frame, 5, null, {}]))).toEqual([frame]);
    expect(parseFrames("no json")).toEqual([]);
  });
});
