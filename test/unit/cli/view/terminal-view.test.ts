import { describe, expect, it } from "vitest";
import { PlainView } from "../../../../src/cli/view/plain-view.ts";
import { TerminalView } from "../../../../src/cli/view/terminal-view.ts";
import { lineOfSegment, Transcript } from "../../../../src/cli/view/transcript.ts";
import { lineRows } from "../../../../src/cli/view/transcript-line.ts";
import type { FinalResultsFrame, ServerFrame } from "../../../../src/wire/live-frames.ts";
import { heardText } from "../../../support/heard-text.ts";

/** A terminal that knows what the view uses: new lines, cursor up, erase to the end. */
class Screen {
  readonly columns = 40;
  readonly rows = 8;
  readonly lines: string[] = [""];

  write(text: string): void {
    const [first = "", ...controlled] = text.split("\u001b[");
    this.#print(first);
    for (const piece of controlled) {
      const [all, count, command] = /^(\d*)([AJ])/.exec(piece) ?? [""];
      if (command === "A") this.lines.length -= Number(count);
      if (command === "J") this.lines[this.lines.length - 1] = "";
      this.#print(piece.slice(all.length));
    }
  }

  #print(text: string): void {
    for (const [i, row] of text.replaceAll("\r", "").split("\n").entries()) {
      if (i > 0) this.lines.push("");
      this.lines[this.lines.length - 1] += row;
    }
  }
}

const base = { session_id: "s", at: "" };

function results(id: string, start: number, transcript: string, seq?: number): ServerFrame {
  const body = { session_id: "s", segment_id: id, revision: 1, start, duration: 1, transcript };
  const rest = { confidence: 1, speaker: "S1", words: [] };
  if (seq === undefined)
    return { type: "Results", ...body, ...rest, is_final: false, stable_words: 0 };
  return { type: "Results", ...body, ...rest, is_final: true, seq, at: "" };
}

function play(view: TerminalView | PlainView, frames: readonly ServerFrame[]): Transcript {
  const transcript = new Transcript();
  for (const frame of frames) view.update(transcript, transcript.apply(frame), "audio 50 %");
  return transcript;
}

describe("cli terminal view: drawing", () => {
  it("rewrites the interim in place and puts the final there", () => {
    const screen = new Screen();
    const view = new TerminalView(screen, false);
    play(view, [results("a", 1, "good")]);
    expect(screen.lines).toEqual(["00:01  S1  good …", "audio 50 %", ""]);
    const again = new Screen();
    const frames = [results("a", 1, "good"), results("a", 1, "good morning", 1)];
    play(new TerminalView(again, false), frames);
    expect(again.lines).toEqual(["00:01  S1  good morning", "audio 50 %", ""]);
  });

  it("changes a label where it stands", () => {
    const screen = new Screen();
    const revision = { type: "SpeakerRevision" as const, ...base, seq: 2, merges: [] };
    play(new TerminalView(screen, false), [
      results("a", 1, "one", 1),
      { ...revision, revisions: [{ segment_id: "a", speaker: "S2" }] },
    ]);
    expect(screen.lines).toEqual(["00:01  S2  one", "audio 50 %", ""]);
  });

  it("lets old lines scroll away once, and tells of a label that changes later", () => {
    const screen = new Screen();
    const view = new TerminalView(screen, false);
    const finals = [1, 2, 3, 4, 5, 6].map((n) => results(`${n}`, n, `line ${n}`, n));
    const revision = { type: "SpeakerRevision" as const, ...base, seq: 7, merges: [] };
    const transcript = play(view, [
      ...finals,
      { ...revision, revisions: [{ segment_id: "1", speaker: "S2" }] },
    ]);
    view.close(transcript);
    expect(screen.lines).toEqual([
      "00:01  S1  line 1",
      "00:02  S1  line 2",
      "00:01  S2  (was S1)",
      ...[3, 4, 5, 6].map((n) => `00:0${n}  S1  line ${n}`),
      "",
    ]);
  });

  it("leaves the finals without interim and footer when it closes", () => {
    const screen = new Screen();
    const view = new TerminalView(screen, false);
    const transcript = play(view, [results("a", 1, "one", 1)]);
    view.close(transcript);
    expect(screen.lines).toEqual(["00:01  S1  one", ""]);
  });

  it("says remarks above what moves", () => {
    const screen = new Screen();
    const view = new TerminalView(screen, false);
    view.say("connecting again");
    play(view, [results("a", 1, "one", 1), results("a", 1, "one", 1)]);
    expect(screen.lines).toEqual(["connecting again", "00:01  S1  one", "audio 50 %", ""]);
  });

  it("never draws a row wider than the terminal", () => {
    const style = { columns: 40, colour: false, interim: true };
    const text = `${"some words ".repeat(12)}${"x".repeat(70)}`;
    const rows = lineRows({ start: 3_725, text }, "Alexander", style);
    expect(rows.length).toBeGreaterThan(4);
    expect(Math.max(...rows.map((row) => row.length))).toBeLessThan(40);
  });

  it("dims the part of an interim that may still change", () => {
    const style = { columns: 30, colour: true, interim: true };
    const line = { start: 0, text: "we can ship it on monday or so", stableWords: 5 };
    const rows = lineRows(line, "S1", style).map((row) => row.replaceAll("\u001b", ""));
    expect(rows.map((row) => row.slice(row.lastIndexOf("  ") + 2))).toEqual([
      "[39mwe can ship it on",
      "[2mmonday or so …[22m",
    ]);
    expect(lineRows({ ...line, stableWords: 6 }, "S1", { ...style, columns: 80 })[0]).toContain(
      "on monday \u001b[2mor so …",
    );
  });

  it("keeps control characters of foreign text from the terminal", () => {
    const style = { columns: 80, colour: false, interim: false };
    const [row] = lineRows({ start: 0, text: "a\u001b[2Jb" }, "S\u00071", style);
    expect(row).toBe("00:00  S 1  a [2Jb");
  });
});

describe("cli plain view: lines", () => {
  it("writes each final once and each new label after it", () => {
    const screen = new Screen();
    play(new PlainView(screen), [
      results("a", 1, "on"),
      results("a", 1, "one", 1),
      {
        type: "SpeakerRevision",
        ...base,
        seq: 2,
        revisions: [],
        merges: [{ from: "S1", into: "S2" }],
      },
    ]);
    expect(screen.lines).toEqual(["00:01  S1  one", "00:01  S2  (was S1)", ""]);
  });
});

describe("cli terminal view: unclear words", () => {
  const final = (seq: number, marked: string): ServerFrame => {
    const { text, unclear } = heardText(marked);
    const word = { start: 0, end: 0, confidence: 0, speaker: "S1" };
    const words = text.split(" ").map((each, place) => {
      return { ...word, word: each, ...(unclear.includes(place) ? { unclear: true } : {}) };
    });
    return { ...(results("a", 1, text, seq) as FinalResultsFrame), words };
  };

  it("marks a final's unclear words in brackets, also where they are wrapped", () => {
    const screen = new Screen();
    play(new TerminalView(screen, false), [
      final(1, "we fly to [tunisia and then the coast?] back"),
    ]);
    expect(screen.lines.slice(0, 2)).toEqual([
      "00:01  S1  we fly to [tunisia and then",
      "           the coast?] back",
    ]);
    const written: string[] = [];
    play(new PlainView({ write: (text) => written.push(text) }), [final(1, "to [tunisia and?]")]);
    expect(written.join("")).toBe("00:01  S1  to [tunisia and?]\n");
  });

  it("dims them where there is colour", () => {
    const { start, text, unclear } = { start: 1, ...heardText("to [tunisia and?] back") };
    const style = { columns: 80, colour: true, interim: false };
    const [row = ""] = lineRows({ start, text, unclear }, "S1", style);
    expect(row).toContain("to \u001b[2m[tunisia and?]\u001b[22m back");
  });

  it("puts a question mark behind a name that is a guess, in the colour and room of the name", () => {
    const line = { start: 1, text: "hello", unsure: true };
    const plain = { columns: 80, colour: false, interim: false };
    expect(lineRows(line, "S1", plain)).toEqual(["00:01  S1?  hello"]);
    expect(lineRows({ ...line, unsure: false }, "S1", plain)).toEqual(["00:01  S1  hello"]);
    const [certain = ""] = lineRows({ ...line, unsure: false }, "S2", { ...plain, colour: true });
    const [guessed = ""] = lineRows(line, "S2", { ...plain, colour: true });
    expect(guessed.replace("?", "")).toBe(certain);
    const long = lineRows(line, "A name that is far too long for its share", plain);
    expect(long[0]?.indexOf("?")).toBeLessThan("00:01  ".length + 80 / 3);
  });

  it("tells behind the words who speaks at the same time, dimmed where there is colour", () => {
    const line = { start: 1, text: "good morning" };
    const style = { columns: 80, colour: false, interim: false };
    expect(lineRows(line, "S1", { ...style, besides: ["Ben"] })).toEqual([
      "00:01  S1  good morning (Ben speaks at the same time)",
    ]);
    const [row = ""] = lineRows(line, "S1", { ...style, colour: true, besides: ["S2", "S3"] });
    expect(row).toContain("good morning \u001b[2m(S2 and S3 speak at the same time)\u001b[22m");
  });

  it("marks those of a snapshot, and none that were read again as clear", () => {
    const transcript = new Transcript();
    const segment = { segment_id: "a", revision: 1, start: 1, duration: 1, confidence: 0 };
    const session = { id: "s", workspace_id: "w", title: "", language: "en", started_at: "" };
    transcript.apply({
      type: "Snapshot",
      session_id: "s",
      seq: 1,
      session: { ...session, status: "recording" },
      speakers: [],
      segments: [{ ...segment, transcript: "to tunisia", speaker: "S1", unclear_words: [1] }],
    });
    expect(transcript.finals[0]?.unclear).toEqual([1]);
    const words = [{ word: "Nicea", start_ms: 0, end_ms: 1, confidence: 1 }];
    expect(lineOfSegment({ id: "a", start_ms: 1, text: "Nicea", words }).unclear).toEqual([]);
  });
});
