import { describe, expect, it } from "vitest";
import { progressRow } from "../../../../src/cli/view/progress-row.ts";
import { TerminalView } from "../../../../src/cli/view/terminal-view.ts";
import { Transcript } from "../../../../src/cli/view/transcript.ts";
import type { ServerFrame } from "../../../../src/wire/live-frames.ts";
import { TerminalScreen } from "../../../support/terminal-screen.ts";

const LOST = "connect ECONNREFUSED 127.0.0.1:8080; connecting again in 0.2 s";

function final(seq: number, transcript: string, speaker = "S1"): ServerFrame {
  const place = { session_id: "s", segment_id: `g${seq}`, revision: 1, start: seq, duration: 1 };
  const rest = { confidence: 1, speaker, words: [], is_final: true as const };
  return { type: "Results", ...place, transcript, ...rest, seq, at: "" };
}

function interim(transcript: string): ServerFrame {
  const place = { session_id: "s", segment_id: "i", revision: 1, start: 9, duration: 1 };
  const rest = { confidence: 1, speaker: "S1", words: [], is_final: false as const };
  return { type: "Results", ...place, transcript, ...rest, stable_words: 0 };
}

/** A view on a screen, its transcript, and its progress row. */
class Stage {
  readonly screen: TerminalScreen;
  readonly view: TerminalView;
  readonly transcript = new Transcript();

  constructor(columns: number, rows: number) {
    this.screen = new TerminalScreen(columns, rows);
    this.view = new TerminalView(this.screen, false);
  }

  show(...frames: ServerFrame[]): void {
    for (const frame of frames) this.#draw(this.transcript.apply(frame));
  }

  /** As every quarter of a second. */
  redraw(): void {
    this.#draw({ finals: [], relabelled: [], stale: false });
  }

  #draw(change: ReturnType<Transcript["apply"]>): void {
    this.view.update(this.transcript, change, progressRow(21, 42, this.screen.columns));
  }

  /** After the end: what stands, when the cursor is at the begin of the row below it. */
  async left(): Promise<string[]> {
    this.view.close(this.transcript);
    const lines = await this.screen.lines();
    expect(await this.screen.cursor()).toEqual({ column: 0, row: lines.length });
    return lines;
  }
}

describe("cli on a terminal: rows", () => {
  it("notices stand in rows of their own, above the text and the progress", async () => {
    const stage = new Stage(80, 12);
    stage.show(final(1, "one"), interim("tw"));
    stage.view.say(LOST);
    const lines = await stage.screen.lines();
    expect(lines).toEqual([
      LOST,
      "00:01  S1  one",
      "00:09  S1  tw …",
      expect.stringMatching(/^audio {2}█{15}░{15} {2}00:21 \/ 00:42$/),
    ]);
    expect(await stage.left()).toEqual([LOST, "00:01  S1  one"]);
  });

  it("nothing is left of a long outage but its notices, once each", async () => {
    const stage = new Stage(60, 8);
    stage.show(final(1, "one"), final(2, "two"));
    for (let notice = 0; notice < 20; notice += 1) {
      stage.view.say(`${notice}: ${LOST}`);
      stage.redraw();
    }
    stage.show(final(3, "three"));
    const lines = await stage.left();
    // Longer than a row: the terminal breaks each of them in two.
    const notices = Array.from({ length: 20 }, (_, n) => `${n}: ${LOST}`);
    expect(lines.slice(0, -3).join("")).toBe(notices.join(""));
    expect(lines.slice(-3)).toEqual(["00:01  S1  one", "00:02  S1  two", "00:03  S1  three"]);
  });

  it.each([60, 40, 25, 12])("texts longer than a row keep to %d columns", async (columns) => {
    const stage = new Stage(columns, 30);
    const long = "a word and pneumonoultramicroscopicsilicovolcanoconiosis more";
    for (let step = 0; step < 5; step += 1) stage.show(interim(long.slice(0, step * 15)));
    stage.show(final(1, long, "S1"), final(2, "ok", "Maximiliane von und zu Musterhausen"));
    const lines = await stage.left();
    const words = lines
      .join(" ")
      .replaceAll(/\d\d:\d\d +\S+/g, "")
      .replaceAll(" ", "");
    expect(words).toContain(long.replaceAll(" ", ""));
    expect(lines.filter((line) => line.includes("…"))).toHaveLength(1);
    expect(lines.join("\n")).not.toContain("audio");
  });

  it("wide characters take two columns", async () => {
    const stage = new Stage(30, 20);
    const text = "日本語の文字は二つの桁を取ります";
    for (let length = 1; length <= text.length; length += 1) {
      stage.show(interim(text.slice(0, length)));
    }
    stage.show(final(1, text, "田中"));
    const lines = await stage.left();
    expect(lines.map((line) => line.trim())).toEqual([
      "00:01  田中  日本語の文字は二",
      "つの桁を取ります",
    ]);
  });

  it.each([
    [80, 30],
    [30, 80],
    [50, 14],
  ])("from %d to %d columns in mid-text: no row is left over", async (before, after) => {
    const stage = new Stage(before, 24);
    stage.show(final(1, "this is what was said before the window changed its size"));
    stage.show(interim("and this is what is said while it does so in the middle of it"));
    stage.view.say("a notice");
    await stage.screen.resize(after, 24);
    stage.redraw();
    stage.show(interim("and this"), final(2, "and then"));
    const lines = await stage.left();
    const said = lines.join(" ").replaceAll(/ +/g, " ");
    expect(said).toBe(
      "a notice 00:01 S1 this is what was said before the window changed its size 00:02 S1 and then".replaceAll(
        / +/g,
        " ",
      ),
    );
  });

  it("a terminal that calls its size nothing is taken for a usual one", async () => {
    const screen = new TerminalScreen(80, 24);
    const output = { columns: 0, rows: 0, write: (text: string) => screen.write(text) };
    const view = new TerminalView(output, false);
    const transcript = new Transcript();
    view.update(transcript, transcript.apply(final(1, "some words")), "footer");
    expect(await screen.lines()).toEqual(["00:01  S1  some words", "footer"]);
  });
});

describe("cli progress row: width", () => {
  it.each([200, 80, 40, 26, 20, 12, 5])("is narrower than %d columns", (columns) => {
    const row = progressRow(3_000, 36_000, columns);
    expect(row.length).toBeLessThan(columns);
    if (columns >= 40) expect(row).toMatch(/█.*░.*50:00 \/ 10:00:00$/);
  });
});
