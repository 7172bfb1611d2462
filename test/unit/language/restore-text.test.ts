import { describe, expect, it } from "vitest";
import { toDigits } from "../../../src/language/digits.ts";
import { restoreText } from "../../../src/language/restore-text.ts";

/** `S1: words`, a turn a line, half a second between turns; `|` is a pause of a second. */
function restored(turns: readonly string[], names: readonly string[] = []): string[] {
  let at = 0;
  const heard = turns.map((turn) => {
    const [speaker = "", said = ""] = turn.split(": ");
    const words = said.split(" ").flatMap((text) => {
      if (text === "|") {
        at += 1;
        return [];
      }
      const word = { text, start: at, end: at + 0.3 };
      at += 0.3;
      return [word];
    });
    at += 0.5;
    return { speaker, words };
  });
  const written = restoreText(heard, names);
  for (const [place, { words }] of heard.entries()) {
    expect(written[place]).toHaveLength(words.length);
  }
  return written.map((words) => words.join(" "));
}

describe("restored text", () => {
  it("restored text: sentences begin with a capital and end with a mark", () => {
    expect(
      restored([
        "S1: that is good news will we be ready in march",
        "S2: yes we will | the shop opens on monday",
        "S1: what do you think",
      ]),
    ).toEqual([
      "That is good news. Will we be ready in March?",
      "Yes, we will. The shop opens on Monday.",
      "What do you think?",
    ]);
  });

  it("restored text: a sentence goes on where its speaker broke off, and not where another one answers", () => {
    expect(restored(["S1: we went to the", "S1: old town", "S2: with the", "S1: dog"])).toEqual([
      "We went to the",
      "old town.",
      "With the.",
      "Dog.",
    ]);
  });

  it("restored text: names, days, peoples and the speaker are large, March and May only as months", () => {
    expect(restored(["S1: i'm told robert's german friend may march to hamburg in may"])).toEqual([
      "I'm told Robert's German friend may march to Hamburg in May.",
    ]);
  });

  it("restored text: places of several words are large, and their parts alone are not", () => {
    expect(
      restored([
        "S1: the new office in new york and not in the united states of america",
        "S2: she left trinidad and tobago for the north of south africa in a new car",
      ]),
    ).toEqual([
      "The new office in New York and not in the United States of America.",
      "She left Trinidad and Tobago for the north of South Africa in a new car.",
    ]);
    expect(restored(["S1: they moved to new"])).toEqual(["They moved to new."]);
  });

  it("restored text: March and May are months between dates too", () => {
    expect(
      restored(["S1: from march to june | they march home | on may twenty third | you may go"]),
    ).toEqual(["From March to June. They march home. On May twenty third. You may go."]);
  });

  it("restored text: a vocabulary's names are written as they are there", () => {
    const names = ["Thandiwe Okonkwo", "PostgreSQL", "van der Berg", "budget"];
    expect(
      restored(
        ["S1: we asked thandiwe okonkwo about postgresql and mister van der berg's budget"],
        names,
      ),
    ).toEqual(["We asked Thandiwe Okonkwo about PostgreSQL and mister van der berg's budget."]);
    expect(restored(["S1: then van der berg came"], names)).toEqual(["Then van der Berg came."]);
  });

  it("restored text: what has capitals or marks stays, and no words are no text", () => {
    expect(restored(["S1: Already written, as it should be", "S2: fine."])).toEqual([
      "Already written, as it should be",
      "fine.",
    ]);
    expect(restoreText([{ speaker: "S1", words: [] }], [])).toEqual([[]]);
  });
});

describe("numbers in digits", () => {
  const written = (text: string): string => {
    const words = toDigits(text.split(" "));
    expect(words).toHaveLength(text.split(" ").length);
    return words.filter((word) => word !== "").join(" ");
  };

  it.each([
    ["we can't have twenty five people", "we can't have 25 people"],
    ["two thousand three hundred dollars", "2300 dollars"],
    ["ten million and a hundred and twelve", "10,000,000 and 112"],
    ["three point five percent", "3.5 percent"],
    ["in nineteen ninety nine", "in 1999"],
    ["one or two of the three", "one or two of the three"],
    ["the twenty first of june", "the twenty first of june"],
  ])("numbers in digits: %s", (heard, expected) => {
    expect(written(heard)).toBe(expected);
  });
});
