import { describe, expect, it } from "vitest";
import { splitSentences } from "../../../src/language/sentences.ts";
import { toTerms, toWords } from "../../../workers/text/language/terms.ts";

describe("sentences: with punctuation", () => {
  it("end where the language ends them, not at abbreviations", () => {
    expect(splitSentences("Dr. Smith came at 3.5 km. Did he say why? He did not!")).toEqual([
      "Dr. Smith came at 3.5 km.",
      "Did he say why?",
      "He did not!",
    ]);
    expect(splitSentences("Das ist gut. Wir gehen morgen.")).toHaveLength(2);
  });

  it("keep an unfinished end, and nothing is made of nothing", () => {
    expect(splitSentences("It works. And then")).toEqual(["It works.", "And then"]);
    expect(splitSentences("  ")).toEqual([]);
  });
});

describe("sentences: as a recogniser writes", () => {
  it("end at pauses, unless a piece would be too short", () => {
    const text = "the team finished their work we did not find any problems";
    expect(splitSentences(text, [5])).toEqual([
      "the team finished their work",
      "we did not find any problems",
    ]);
    expect(splitSentences(text, [1])).toEqual([text]);
  });

  it("end before a question and before a new subject", () => {
    expect(splitSentences("that is very good news will we be ready")).toEqual([
      "that is very good news",
      "will we be ready",
    ]);
    expect(splitSentences("yes we will we decided to start on monday")).toEqual([
      "yes we will",
      "we decided to start on monday",
    ]);
    expect(splitSentences("i wonder what will we do")).toEqual(["i wonder what will we do"]);
  });

  it("do not run on for ever, and lose no word", () => {
    const text = Array.from({ length: 8 }, () => "and i went there with my old friend").join(" ");
    const sentences = splitSentences(text);
    expect(sentences.length).toBeGreaterThan(3);
    expect(sentences.join(" ")).toBe(text);
  });
});

describe("terms", () => {
  it("are stems without stop words; other languages keep their words", () => {
    expect(toTerms("We are planning the plans", true)).toEqual(["plan", "plan"]);
    expect(toTerms("wir planen die Pläne", false)).toEqual(["wir", "planen", "die", "pläne"]);
    expect(toWords("Don’t stop, Zoë!")).toEqual(["don't", "stop", "zoë"]);
  });
});
