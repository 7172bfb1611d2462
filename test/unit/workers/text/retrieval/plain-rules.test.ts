import { describe, expect, it } from "vitest";
import { answerQuestion } from "../../../../../workers/text/retrieval/answer.ts";
import {
  readMeasure,
  readPlainKind,
} from "../../../../../workers/text/retrieval/plain-question.ts";
import { readQuestion } from "../../../../../workers/text/retrieval/question.ts";
import { finish } from "../../../../support/finish-steps.ts";
import { type SpokenTurn, spokenConversation } from "../../../../support/spoken-conversation.ts";

const GARDEN: readonly SpokenTurn[] = [
  ["S1", 0, "Good evening. My name is Ruth and I keep the list. We have forty minutes in all."],
  ["S2", 9, "I drew a plan of the garden on the train."],
  ["S3", 15, "The shed was broken when the wind threw a tree on it."],
  ["S1", 22, "Can somebody mend the shed?"],
  ["S2", 26, "Mm-hmm."],
  ["S3", 28, "Certainly by Thursday evening."],
  ["S1", 33, "What about the fence along the river path?"],
  ["S2", 38, "It would be about ninety euros for the posts."],
  ["S3", 44, "We need sixteen posts and the posts are two metres long."],
  ["S1", 51, "I love roses. Roses need a lot of water."],
  ["S2", 58, "You could water the roses with rain water, people like roses."],
  ["S3", 65, "For the path there are gravel and wood. Gravel is cheap."],
  ["S1", 72, "So we use gravel. The rain barrel stays empty, we do not need the rain barrel."],
  ["S2", 80, "I personally think the rain barrel is useful in summer."],
  ["S3", 87, "The form for the council is due on the ninth of May."],
  ["S1", 94, "Next meeting. Twenty minutes."],
  ["S1", 99, "The rain barrel can wait. Thank you all."],
];
const NAMES = { S1: "Ruth Vale", S2: "Dr Omar Finch", S3: "Gardening" };
const garden = spokenConversation(GARDEN, NAMES);

function ask(query: string) {
  const conversations = [garden];
  const { text, citations } = finish(
    answerQuestion({ query, nowMs: 0, across: false, conversations }),
  );
  return { text, cited: citations.map(({ segmentId }) => segmentId.slice(8)) };
}

describe("plain questions: what an answer is first", () => {
  it.each([
    ["finds an irregular form by another", "Who can draw the garden?", /^Dr Omar Finch/, "1"],
    ["finds an irregular form by its base", "Who broke the shed?", /^Gardening/, "2"],
    ["joins a short reply to its question", "When will they repair the shed?", /Thursday/, "5"],
    ["joins a pronoun to the turn before", "How much may the fence cost?", /ninety euros/, "7"],
    ["wants a count where things are counted", "How many posts?", /sixteen posts/, "8"],
    [
      "wants money where money is asked for",
      "How much do the posts cost?",
      /^[^“]+“[^”]*ninety/,
      "7",
    ],
    ["names who says it of themselves", "Who loves roses?", /^Ruth Vale/, "9"],
    [
      "prefers what was settled",
      "What did they decide about the gravel?",
      /^Ruth Vale.*We use gravel/,
      "12",
    ],
    ["reads two short sentences together", "When are we meeting again?", /Twenty minutes/, "15"],
    ["finds a deadline without a topic", "When is the deadline?", /^Gardening.*ninth of May/, "14"],
    ["finds how much time there is", "How much time do we have?", /^Ruth Vale.*forty minutes/, "0"],
    ["finds a speaker's name", "What is Ruth's name?", /^Ruth Vale.*My name is Ruth/, "0"],
    ["finds an opposite opinion", "Who disagreed about the rain barrel?", /useful in summer/, "13"],
    ["finds the first time", "When did the rain barrel first come up?", /stays empty/, "12"],
    ["finds a surname behind a title", "What did Finch say about roses?", /rain water/, "10"],
  ])("%s", (_, query, text, first) => {
    const answer = ask(query);
    expect(answer.text).toMatch(text);
    expect(answer.cited[0]).toBe(first);
  });

  it("names the person first who is asked for, not who asked them", () => {
    expect(ask("Who mends the shed?").text).not.toMatch(/^Dr Omar Finch/);
  });

  it("counts sentences that hold all words of a topic, without the word “word”", () => {
    expect(ask("How often was the rain barrel mentioned?").text).toMatch(
      /^“rain barrel” was mentioned 4 times/,
    );
    expect(ask("How often is the word gravel used?").text).toMatch(/^“gravel” was mentioned 3/);
  });

  it("counts who spoke, however it is asked", () => {
    for (const query of ["How many of them are talking?", "How many different voices are there?"]) {
      expect(ask(query).text).toMatch(/^3 people spoke/);
    }
  });

  it("tells how long one person spoke, and who spoke most", () => {
    expect(ask("How long did Ruth talk?").text).toMatch(/^Ruth Vale spoke for \d+ seconds/);
    expect(ask("Who was the most talkative?").text).toMatch(/Ruth Vale spoke the most/);
  });

  it("quotes what follows a short answer in the same turn", () => {
    expect(ask("What did Ruth say about roses?").text).toContain("Roses need a lot of water");
  });

  it.each(["Who sold the tractor?", "How many hens are there?", "What is the name of the dog?"])(
    "says that nothing bears an answer: %s",
    (query) => {
      expect(ask(query)).toMatchObject({ cited: [], text: expect.stringContaining("nothing") });
    },
  );
});

describe("plain questions: how they are read", () => {
  it.each([
    ["When do they come back together?", "next"],
    ["How many minutes did Omar speak?", "speaking-time"],
    ["How long did the meeting last?", "length"],
    ["Who talked longer?", "most"],
    ["When was the fence first mentioned?", "when-first"],
    ["How far in did they get to the fence?", "when-said"],
    ["Which seeds did they choose?", "decision"],
    ["What is the total cost?", "amount"],
    ["What was said about the cost?", undefined],
    ["How many people are in this recording?", undefined],
    ["How many people have a shed?", "number"],
    ["Which of them has a shed?", "who"],
  ])("%s is %s", (text, kind) => {
    expect(readPlainKind(text)).toBe(kind);
  });

  it.each([
    ["How much was spent on seeds?", undefined],
    ["How much will the seeds cost?", "money"],
    ["How many weeks does it take?", "time"],
    ["How many seeds are left?", "count"],
  ])("%s measures %s", (text, measure) => {
    expect(readMeasure(text)).toBe(measure);
  });

  it("takes for the topic no verb of reporting, no role after a name, no “may”", () => {
    const words = (text: string) => readQuestion(text, garden.voices, 0).words;
    expect(words("What did Ruth report about the seeds?")).toEqual(["seeds"]);
    expect(words("What did the gardening expert say about the seeds?")).toEqual(["seeds"]);
    expect(words("How much may the seeds cost?")).toEqual(["seeds", "cost"]);
    expect(words("What happens in May?")).toContain("May");
  });

  it("takes “in the end” for no time", () => {
    expect(readQuestion("What did they use in the end?", [], 0).times.within).toBeUndefined();
    expect(readQuestion("What did they say at the end?", [], 0).times.within).toBeDefined();
  });
});
