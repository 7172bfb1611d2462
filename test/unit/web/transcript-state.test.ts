import { describe, expect, it } from "vitest";
import { Position } from "../../../src/client/live-position.ts";
import {
  type Line,
  nameOf,
  readableWords,
  sharesOf,
  TranscriptState,
} from "../../../src/web/views/session/model/transcript-state.ts";
import { rowAt, rowsOf } from "../../../src/web/views/session/transcript-rows.ts";
import type { ServerFrame } from "../../../src/wire/live-frames.ts";

const SESSION = "s";
const AT = "2026-01-01T00:00:00.000Z";

function results(
  id: string,
  text: string,
  more: {
    revision?: number;
    start?: number;
    speaker?: string;
    isFinal?: boolean;
    seq?: number;
  } = {},
): ServerFrame {
  const { revision = 1, start = 0, speaker = "S1", isFinal = true, seq = 1 } = more;
  const words = text.split(" ").map((word, n) => ({
    word,
    start: start + n,
    end: start + n + 1,
    confidence: 1,
    speaker,
  }));
  const body = {
    type: "Results" as const,
    session_id: SESSION,
    segment_id: id,
    revision,
    start,
    duration: words.length,
    transcript: text,
    confidence: 1,
    speaker,
    words,
  };
  return isFinal
    ? { ...body, is_final: true, seq, at: AT }
    : { ...body, is_final: false, stable_words: 1 };
}

const texts = (state: TranscriptState) => state.lines.map(({ text }) => text);

describe("transcript of the page", () => {
  it("interim: an older revision, or one whose final is there, changes nothing", () => {
    const state = new TranscriptState();
    state.apply(results("a", "hello there", { isFinal: false, revision: 3 }));
    expect(state.apply(results("a", "hel", { isFinal: false, revision: 2 }))).toBe("same");
    expect(texts(state)).toEqual(["hello there"]);
    state.apply(results("a", "hello there all", { revision: 4 }));
    expect(state.apply(results("a", "hello", { isFinal: false, revision: 9 }))).toBe("same");
    expect(state.lines.map(({ isFinal, text }) => [isFinal, text])).toEqual([
      [true, "hello there all"],
    ]);
  });

  it("order: finals by time whatever order they come in, interim ones behind them", () => {
    const state = new TranscriptState();
    state.apply(results("c", "now", { start: 3, isFinal: false }));
    state.apply(results("b", "second", { start: 5 }));
    state.apply(results("a", "first", { start: 2 }));
    expect(texts(state)).toEqual(["first", "second", "now"]);
  });

  it("speakers: a merge moves lines and the name, which the surviving label keeps", () => {
    const state = new TranscriptState();
    state.apply(results("a", "one", { speaker: "S1" }));
    state.apply(results("b", "two", { speaker: "S2", start: 1 }));
    const named = { type: "SpeakerNamed" as const, session_id: SESSION, seq: 2, at: AT };
    state.apply({ ...named, speaker_label: "S2", free_name: "Robert" });
    const revised = { type: "SpeakerRevision" as const, session_id: SESSION, seq: 3, at: AT };
    state.apply({ ...revised, revisions: [], merges: [{ from: "S2", into: "S1" }] });
    expect(state.speakers).toEqual(["S1"]);
    expect(nameOf(state.names, "S1")).toBe("Robert");
  });

  it("claims: a claimed name outranks a free one, and gives way when it is taken back", () => {
    const state = new TranscriptState();
    const event = { session_id: SESSION, seq: 2, at: AT, speaker_label: "S1" };
    state.apply({ ...event, type: "SpeakerNamed", free_name: "Robert" });
    const claim = { claimed_user_id: "u", display_name: "Anna" };
    state.apply({ ...event, ...claim, type: "SpeakerClaimed", revoked: false });
    const { names } = state;
    expect([nameOf(names, "S1"), names.get("S1")?.claimedBy]).toEqual(["Anna", "u"]);
    state.apply({ ...event, type: "SpeakerClaimed", revoked: true });
    expect([nameOf(state.names, "S1"), state.names.get("S1")?.claimedBy]).toEqual([
      "Robert",
      undefined,
    ]);
    // What draws names is told of a change by another map, not by the lines.
    expect(state.names).not.toBe(names);
  });

  it("segments: what was asked for does not overwrite a newer line, and what is gone goes", () => {
    const state = new TranscriptState();
    state.apply(results("a", "mended", { revision: 5 }));
    state.apply(results("b", "gone", { start: 4 }));
    const old = { start_ms: 0, end_ms: 900, revision: 1, speaker_confidence: null };
    state.merge([{ ...old, id: "a", text: "broken" }]);
    state.keepOnly(new Set(["a"]));
    expect(texts(state)).toEqual(["mended"]);
  });

  it("overlaps: are of whoever says the other line's words now, and have no place in the own ones", () => {
    const state = new TranscriptState();
    const overlaps = [{ speaker: "S2", segment_id: "b", start: 1, end: 2 }];
    state.apply({ ...results("a", "one two"), overlaps } as ServerFrame);
    state.apply(results("b", "three", { start: 2, speaker: "S2" }));
    const told = () => state.lines.map((line) => state.overlapsOf(line).map(({ label }) => label));
    expect(told()).toEqual([["S2"], []]);
    const shares = sharesOf(state.lines, (line) => state.overlapsOf(line));
    expect(shares.find(({ label }) => label === "S2")).toMatchObject({ seconds: 2, lines: 1 });
    const revise = (speaker: string) => {
      const revisions = [{ segment_id: "b", speaker }];
      const place = { session_id: SESSION, seq: 3, at: AT };
      state.apply({ type: "SpeakerRevision", ...place, revisions, merges: [] });
    };
    revise("S3");
    expect(told()).toEqual([["S3"], []]);
    revise("S1");
    expect(told()).toEqual([[], []]);
  });

  it("position: durable events once and in order, a hole or a lost tail is noticed", () => {
    const place = new Position();
    const final = (seq: number) => place.take(results("a", "x", { seq }));
    const beat = { type: "Heartbeat", session_id: SESSION, audio_received: 0 } as const;
    const heartbeat = (seq: number) =>
      place.take({ ...beat, seq, audio_finalised: 0, lag_ms: 0, gaps: 0 });
    expect([final(1), final(1), final(2), final(4)]).toEqual(["next", "seen", "next", "gap"]);
    expect(place.from.from_seq).toBe(2);
    expect([heartbeat(3), heartbeat(3)]).toEqual(["next", "gap"]);
  });
});

describe("rows of the transcript", () => {
  const line = (id: string, start: number, speaker: string): Line => ({
    id,
    revision: 1,
    start,
    end: start + 1,
    speaker,
    isGuess: false,
    text: id,
    isFinal: true,
    unclear: [],
  });

  it("rows: a missing span stands where it is missing, and begins a turn anew", () => {
    const missing = { start_ms: 1_500, end_ms: 3_000, reason: "missing", chunk_sequences: [2] };
    const rows = rowsOf(
      [line("a", 0, "S1"), line("b", 1, "S1"), line("c", 3, "S1"), line("d", 4, "S2")],
      [{ ...missing, reason: "missing" }],
    );
    expect(rows.map(({ key }) => key)).toEqual(["a", "b", "gap 1500", "c", "d"]);
    expect(rows.map((row) => row.kind === "line" && row.isTurn)).toEqual([
      true,
      false,
      false,
      true,
      true,
    ]);
    expect([rowAt(rows, 0.5), rowAt(rows, 2), rowAt(rows, 99), rowAt([], 1)]).toEqual([
      0, 1, 4, -1,
    ]);
  });

  it("shares: who spoke most comes first, interim lines do not count", () => {
    const interim = { ...line("x", 9, "S3"), isFinal: false };
    const lines = [line("a", 0, "S1"), line("b", 1, "S2"), line("c", 2, "S2"), interim];
    const shares = sharesOf(lines, () => []);
    expect(shares.map(({ label, lines }) => [label, lines])).toEqual([
      ["S2", 2],
      ["S1", 1],
    ]);
    expect(shares[0]?.share).toBeCloseTo(2 / 3);
  });

  it("readable: capitals and marks only where they fit word by word", () => {
    expect(readableWords("in new york", "In New York.")?.words).toEqual(["In", "New", "York."]);
    expect(readableWords("twenty two people", "22 people.")).toBeUndefined();
  });
});
