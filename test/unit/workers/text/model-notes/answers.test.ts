import { describe, expect, it } from "vitest";
import { readEntries } from "../../../../../workers/text/model-notes/answers.ts";
import { KINDS } from "../../../../../workers/text/model-notes/prompts.ts";

const ENTRY = { kind: "points", text: "Anna said that the printer is broken.", cites: [3, 4] };

describe("answers of a model in lines", () => {
  it.each([
    "POINT: Anna said that the printer is broken. [3, 4]",
    "- POINT: Anna said that the printer is broken. [3, 4].",
    "2. **POINT**: Anna said that the printer is broken. [3, 4]",
    "**POINT:** Anna said that the printer is broken. [3, 4]",
    "Point: Anna said that the printer is broken. [3 and 4]",
    "POINTS: Anna said that the printer is broken. [lines 3, 4]",
    "POINT: Anna said that the printer is broken. [n: 3, n: 4]",
    "POINT: Anna said that the printer is broken. [3] [4]",
    "POINT: Anna said that the printer is broken. [3][4]",
    "POINT: Anna said that the printer is broken [3-4].",
    "Here are the notes:\n\nPOINT: Anna said that the printer is broken. [3–4]",
  ])("reads %j", (answer) => {
    const [entry, ...more] = readEntries(answer, KINDS) ?? [];
    expect(more).toEqual([]);
    expect({ ...entry, text: entry?.text.replace(/\.?$/u, ".") }).toEqual(ENTRY);
  });

  it("a range has all of its lines, and not more than an entry may cite", () => {
    const citesOf = (numbers: string) =>
      readEntries(`POINT: The printer is broken. [${numbers}]`, KINDS)?.[0]?.cites;
    expect(citesOf("3-6")).toEqual([3, 4, 5, 6]);
    expect(citesOf("1, 3-4")).toEqual([1, 3, 4]);
    expect(citesOf("1-4000000")).toHaveLength(8);
    expect(citesOf("6-3")).toEqual([6, 3]);
  });

  it.each(["NONE", " none. ", "**NONE**"])("nothing to note: %j", (answer) => {
    expect(readEntries(answer, KINDS)).toEqual([]);
  });

  it.each([
    "Certainly, I can help with that.",
    "Anna: the printer is broken. [3, 4]",
    "POINT: Anna said that the printer is broken.",
    "POINT: Anna said [that] the printer is broken. [minutes of 3 o'clock]",
    '{"n":13,"speaker":"Anna","said":"The printer is broken."}',
  ])("cannot be read: %j", (answer) => {
    expect(readEntries(answer, KINDS)).toBeUndefined();
  });
});
