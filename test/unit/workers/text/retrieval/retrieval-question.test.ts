import { describe, expect, it } from "vitest";
import { ASKER, readQuestion } from "../../../../../workers/text/retrieval/question.ts";
import { isWithin } from "../../../../../workers/text/retrieval/question-time.ts";

const NOW = Date.UTC(2026, 2, 18, 12);
const DAY = 86_400_000;
const VOICES = [
  { label: "S1", name: "Anna Smith", isAsker: false },
  { label: "S2", name: "Will", isAsker: true },
  { label: "S3", name: "", isAsker: false },
];

function read(text: string) {
  return readQuestion(text, VOICES, NOW);
}

describe("question: its topic", () => {
  it("leaves out words of asking", () => {
    expect(read("What did the group discuss about the price of shoes?").words).toEqual([
      "price",
      "shoes",
    ]);
  });

  it("keeps a word of asking that is the topic", () => {
    expect(read("What was said about the team?").words).toEqual(["team"]);
  });

  it("finds phrases in quotation marks", () => {
    expect(read('who said "good news"?').phrases).toEqual([["good", "news"]]);
  });

  it.each([
    ["Summarise this meeting in three bullet points", "overview", []],
    ["Give me a short summary in 5 sentences.", "overview", []],
    ["Summarise the price in a few words", "lookup", ["price"]],
    ["Summarise what was said about bullet trains", "lookup", ["bullet", "trains"]],
  ])("leaves out what an answer is to look like: %s", (text, intent, words) => {
    expect(read(text)).toMatchObject({ intent, words });
  });

  it("takes every word of another language", () => {
    expect(read("quel est le prix").words).toEqual(["quel", "est", "le", "prix"]);
  });
});

describe("question: whose words answer", () => {
  it("finds a speaker who is called by what they are, written small", () => {
    const voices = [{ label: "S1", name: "Professor B", isAsker: false }];
    const { voices: asked, words } = readQuestion(
      "What did the professor think about it?",
      voices,
      NOW,
    );
    expect([...asked]).toEqual(["professor b"]);
    expect(words).toEqual([]);
    // Not a name: nobody asks what it did.
    expect(readQuestion("How much is the professor paid?", voices, NOW).voices.size).toBe(0);
  });

  it.each([
    ["What did Anna say about the report?", "anna smith"],
    ["What is Anna Smith's view of the report?", "anna smith"],
    ["what did anna smith promise", "anna smith"],
    ["What did speaker 3 think?", "s3"],
    ["what does S3 want", "s3"],
    ["Will on the report", "will"],
  ])("%s", (text, voice) => {
    expect([...read(text).voices]).toEqual([voice]);
  });

  it("does not take a person spoken of for the one who speaks", () => {
    expect(read("Who wrote to Anna?")).toMatchObject({
      voices: new Set(),
      words: ["wrote", "Anna"],
    });
    expect([...read("What is the price according to Anna?").voices]).toEqual(["anna smith"]);
  });

  it("does not take a verb for a name", () => {
    expect(read("what will the shop sell").voices.size).toBe(0);
  });

  it("knows the asker's own voice", () => {
    expect([...read("What did I promise?").voices]).toEqual([ASKER]);
    expect([...readQuestion("What did I promise?", [], NOW).voices]).toEqual([]);
  });
});

describe("question: what kind of answer", () => {
  it.each([
    ["Summarize the meeting", "overview"],
    ["What was it about?", "overview"],
    ["Summarise the discussion about shoes", "lookup"],
    ["Who mentioned shoes?", "who"],
    ["How often were shoes mentioned?", "count"],
    ["How many people spoke?", "voices"],
    ["Who talked the most?", "voices"],
    ["Who talked about shoes?", "who"],
    ["What was decided?", "decisions"],
    ["What was decided about shoes?", "lookup"],
    ["What are the action items?", "actions"],
    ["When does the shop open?", "when"],
    ["Which meetings mention shoes?", "sessions"],
    ["What colour are the shoes?", "lookup"],
  ])("%s is %s", (text, intent) => {
    expect(read(text).intent).toBe(intent);
  });
});

describe("question: when", () => {
  const HOUR = 3_600_000;
  it.each([
    ["What was said at the beginning about shoes?", 0, HOUR * 0.19, HOUR * 0.3],
    ["What was decided at the end of the meeting?", HOUR * 0.9, HOUR, HOUR * 0.5],
    ["What was said in the first five minutes?", 0, 299_000, 301_000],
    ["what came up in the last 10 minutes", HOUR - 500_000, HOUR, HOUR - 700_000],
    ["who spoke at 12:30", 12 * 60_000, 750_000, 20 * 60_000],
    ["what was said between 10 and 20 minutes", 700_000, 800_000, 1_300_000],
    ["what was said between 10:00 and 20:00", 700_000, 800_000, 1_300_000],
  ])("%s", (text, inFrom, inTo, outside) => {
    const { within } = read(text).times;
    if (within === undefined) throw new Error("no time was read");
    expect(isWithin(within, inFrom, inTo, HOUR)).toBe(true);
    expect(isWithin(within, outside, outside + 1, HOUR)).toBe(false);
  });

  it("the end of a month is no place in the conversation", () => {
    expect(read("What is due at the end of the month?").times.within).toBeUndefined();
  });

  it.each([
    ["what did we decide yesterday", Date.UTC(2026, 2, 17), Date.UTC(2026, 2, 18)],
    ["sessions of last week about shoes", Date.UTC(2026, 2, 9), Date.UTC(2026, 2, 16)],
    ["what was said last month", Date.UTC(2026, 1, 1), Date.UTC(2026, 2, 1)],
    ["shoes in the last 3 days", NOW - 3 * DAY, NOW + 1],
  ])("%s", (text, from, to) => {
    expect(read(text).times.days).toEqual({ from, to });
  });
});
