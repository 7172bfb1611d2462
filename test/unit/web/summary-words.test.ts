import { describe, expect, it } from "vitest";
import { itemWords, sectionTitle } from "../../../src/web/views/session/summary-words.ts";

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

  it("are headed by names instead of labels", () => {
    expect(sectionTitle("S3", nameOf)).toBe("Speaker 3");
    expect(sectionTitle("Decisions", nameOf)).toBe("Decisions");
  });
});
