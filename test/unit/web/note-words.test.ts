import { describe, expect, it } from "vitest";
import {
  dayIn,
  dueWords,
  heardParts,
  nameIn,
  wordedBy,
} from "../../../src/web/views/session/model/note-words.ts";
import { wordedText } from "../../../src/wire/language-model.ts";

const nameOf = (label: string) => `Speaker ${label.slice(1)}`;
const NOON = new Date(2026, 11, 2, 12);

describe("words of notes", () => {
  it("say who it is by name instead of by label", () => {
    expect(nameIn("S3", nameOf)).toBe("Speaker 3");
    expect(nameIn("Decisions", nameOf)).toBe("Decisions");
    // Whoever was named before the notes were made is told by that name.
    expect(nameIn("Anna", nameOf)).toBe("Anna");
  });

  it("show which words were not heard clearly", () => {
    expect(heardParts("We flew to [tunisia and?] back [home?]")).toEqual([
      { text: "We flew to ", isUnclear: false },
      { text: "tunisia and", isUnclear: true },
      { text: " back ", isUnclear: false },
      { text: "home", isUnclear: true },
    ]);
    expect(heardParts("Nothing [at all] is unclear?")).toEqual([
      { text: "Nothing [at all] is unclear?", isUnclear: false },
    ]);
  });

  it("say by when: a day as people write it, and what was said as it was said", () => {
    expect(dueWords("2026-12-02", false, NOON).text).toMatch(/^by .*2.*2026$/);
    expect(dueWords("by Wednesday", false, NOON)).toEqual({ text: "by Wednesday", isLate: false });
    expect(dayIn("2026-12-02")).toBe("2026-12-02");
    for (const said of ["by Wednesday", "2026-13-02", ""]) expect(dayIn(said)).toBe("");
  });

  it("tell what is late once its day is over, unless it is done", () => {
    const isLate = (day: string, isDone = false) => dueWords(day, isDone, NOON).isLate;
    expect([isLate("2026-12-01"), isLate("2026-12-02"), isLate("2026-12-03")]).toEqual([
      ...[true, false, false],
    ]);
    expect(isLate("2026-12-01", true)).toBe(false);
  });

  it("tell who worded them, and how much of it is not shown", () => {
    expect(wordedBy({ dropped_sentences: 3 })).toBe("");
    const by = "Worded by the language model small from the lines that it leads to.";
    expect(wordedBy({ model: "small", dropped_sentences: 0 })).toBe(by);
    expect(wordedBy({ model: "small", dropped_sentences: 1 })).toBe(
      `${by} 1 of its sentences was left out, as nothing that was said bears it.`,
    );
    expect(wordedBy({ model: "small", dropped_sentences: 4 })).toMatch(/4 of its sentences were/);
  });

  it("name a speaker with whom a model's sentence begins", () => {
    expect(wordedText("S2 said that the files are in S3.", nameOf)).toBe(
      "Speaker 2 said that the files are in S3.",
    );
    expect(wordedText("The files are in S3 now.", nameOf)).toBe("The files are in S3 now.");
  });
});
