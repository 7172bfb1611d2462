import { describe, expect, it } from "vitest";
import { spreadWords } from "../../../../src/conversations/transcript/segments-store.ts";
import type { SegmentRecord } from "../../../../src/conversations/transcript/writing/segment-record.ts";
import {
  type Writing,
  writeSegments,
} from "../../../../src/conversations/transcript/writing/written-segments.ts";

const SECOND = 16_000;
const WRITING: Writing = { style: "readable", numbers: "words", language: "en-GB", names: [] };

function heard(text: string): SegmentRecord {
  const words = text.split(" ").map((word, at) => ({
    text: word,
    start: at * SECOND,
    end: (at + 0.9) * SECOND,
    confidence: 0.5 + 0.01 * at,
  }));
  const span = { start: 0, end: words.length * SECOND };
  return { id: "1", ...span, label: "S1", text, words, confidence: 0.8, revision: 1 };
}

function textOf(segment: SegmentRecord, writing: Partial<Writing> = {}): string | undefined {
  return writeSegments([segment], { ...WRITING, ...writing })[0]?.text;
}

describe("written segments", () => {
  it("written segments: words keep their places and times", () => {
    const segment = heard("i saw robert on friday");
    const [written] = writeSegments([segment], WRITING);
    expect(written?.text).toBe("I saw Robert on Friday.");
    expect(written?.words.map(({ start, end }) => [start, end])).toEqual(
      segment.words.map(({ start, end }) => [start, end]),
    );
  });

  it("written segments: raw is as recognised, and so is another language", () => {
    expect(textOf(heard("i saw robert"), { style: "raw" })).toBe("i saw robert");
    expect(textOf(heard("i saw robert"), { language: "de" })).toBe("i saw robert");
  });

  it("written segments: a number in digits is one word from its first to its last", () => {
    const segment = heard("we sold twenty five");
    const [written] = writeSegments([segment], { ...WRITING, numbers: "digits" });
    expect(written?.text).toBe("We sold 25.");
    expect(written?.words.at(-1)).toMatchObject({ start: 2 * SECOND, end: 3.9 * SECOND });
    expect(textOf(segment, { numbers: "digits", style: "raw" })).toBe("we sold 25");
  });

  it("written segments: of an engine that writes capitals and marks, numbers become digits, too", () => {
    const segment = heard(
      "It should stay below one hundred dollars. We sold Twenty five, they say.",
    );
    expect(textOf(segment)).toBe(segment.text);
    expect(textOf(segment, { numbers: "digits" })).toBe(
      "It should stay below 100 dollars. We sold 25, they say.",
    );
  });

  it("written segments: a number is unclear when one of its words is", () => {
    const segment = heard("twenty five");
    const words = segment.words.map((word, at) => ({ ...word, unclear: at === 1 }));
    const [written] = writeSegments([{ ...segment, words }], { ...WRITING, numbers: "digits" });
    expect(written?.words).toMatchObject([{ text: "25.", unclear: true }]);
  });

  it("written segments: what a person wrote stays, also without capitals, and so does a placeholder", () => {
    const text = "i like it small";
    const segment = { ...heard("i like it mall"), text, revision: 2 };
    const edited = { ...segment, words: spreadWords(text, { ...segment }) };
    expect(textOf(edited)).toBe(text);
    expect(textOf({ ...heard("gone"), text: "[redacted-span]", redacted: true })).toBe(
      "[redacted-span]",
    );
  });

  it("written segments: a person who only names the speaker leaves the words to be written", () => {
    expect(textOf({ ...heard("i saw robert"), revision: 2 })).toBe("I saw Robert.");
  });
});
