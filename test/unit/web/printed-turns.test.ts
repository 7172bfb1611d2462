import { describe, expect, it } from "vitest";
import { turnsOf } from "../../../src/web/views/session/export/turns.ts";

const line = (start_ms: number, speaker_label: string, text: string) => ({
  start_ms,
  speaker_label,
  text,
});

describe("printed turns", () => {
  it("join what one speaker says in a row", () => {
    const lines = [
      line(0, "S1", "Hello."),
      line(1_000, "S1", "How are you?"),
      { ...line(2_000, "S2", "fine"), readable_text: "Fine." },
      line(3_000, "S1", "Good."),
    ];
    expect(turnsOf(lines, (label) => `Speaker ${label.slice(1)}`)).toEqual([
      { start: 0, speaker: "Speaker 1", text: "Hello. How are you?" },
      { start: 2_000, speaker: "Speaker 2", text: "Fine." },
      { start: 3_000, speaker: "Speaker 1", text: "Good." },
    ]);
  });

  it("begin a paragraph anew in a long talk, and leave out what has no words", () => {
    const sentence = "We have talked about this for a very long time now. ".repeat(5).trim();
    const lines = [line(0, "S1", ""), ...[1, 2, 3, 4, 5].map((n) => line(n, "S1", sentence))];
    const turns = turnsOf(lines, (label) => label);
    expect(turns.map(({ start }) => start)).toEqual([1, 5]);
    expect(turns.map(({ text }) => text).join(" ")).toBe(Array(5).fill(sentence).join(" "));
  });
});
