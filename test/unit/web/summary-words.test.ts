import { describe, expect, it } from "vitest";
import {
  itemWords,
  sectionTitle,
  wordedBy,
  wordedText,
} from "../../../src/web/views/session/summary-words.ts";

const nameOf = (label: string) => `Speaker ${label.slice(1)}`;

describe("words of summaries", () => {
  it.each([
    [
      { text: "Send the report.", owner: "S2", due: "by Wednesday" },
      "Send the report. (Speaker 2, by Wednesday)",
    ],
    [{ text: "Send the report.", due: "Friday" }, "Send the report. (by Friday)"],
    [
      { text: "Send it.", owner: "everybody", due: "on Wednesday morning" },
      "Send it. (everybody, on Wednesday morning)",
    ],
    [
      { text: "Send it.", owner: "S2", due: "before the end of this month" },
      "Send it. (Speaker 2, before the end of this month)",
    ],
    [
      { text: "We need the report by Wednesday.", owner: "everybody", due: "by wednesday" },
      "We need the report by Wednesday. (everybody)",
    ],
    [{ text: "It was decided." }, "It was decided."],
  ])("say who does it and by when, once: %j", (item, words) => {
    expect(itemWords(item, nameOf)).toBe(words);
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

  it("are headed by names instead of labels", () => {
    expect(sectionTitle("S3", nameOf)).toBe("Speaker 3");
    expect(sectionTitle("Decisions", nameOf)).toBe("Decisions");
  });
});
