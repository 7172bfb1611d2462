import { describe, expect, it } from "vitest";
import { answerQuestion } from "../../../../../workers/text/retrieval/answer.ts";
import { readPlainKind } from "../../../../../workers/text/retrieval/plain-question.ts";
import { finish } from "../../../../support/finish-steps.ts";
import { type SpokenTurn, spokenConversation } from "../../../../support/spoken-conversation.ts";

const PARTY: readonly SpokenTurn[] = [
  ["S1", 0, "good morning everyone welcome we'll start with the budget"],
  ["S2", 6, "after the rent of the hall we have eight thousand dollars left"],
  ["S3", 12, "the farm is the largest cost it takes three thousand dollars"],
  ["S1", 18, "for the food we may spend two thousand dollars and no more"],
  ["S2", 24, "i will call the farm and ask for a better offer"],
  ["S1", 30, "the party is on saturday the twelfth of july in the old barn"],
  ["S3", 37, "we expect two hundred people"],
  ["S2", 42, "my brother plays in a band and they play for free"],
  ["S1", 48, "now the website let us open the website on the first of june"],
  ["S3", 55, "i think we should wait with the website until the pictures are ready"],
  ["S2", 62, "no the first of june is good for everyone"],
  ["S1", 67, "that is decided"],
  ["S3", 70, "the website needs pictures i will send the offer tomorrow"],
  [
    "S2",
    76,
    "if it rains there is a risk that nobody comes and we don't know yet who brings the tents",
  ],
  ["S1", 86, "thank you see you next monday at nine o'clock"],
];

const party = spokenConversation(PARTY, { S1: "Mary", S2: "", S3: "Tom" });

function ask(query: string) {
  const answer = finish(answerQuestion({ query, nowMs: 0, across: false, conversations: [party] }));
  return { ...answer, cited: answer.citations.map(({ segmentId }) => segmentId.slice(8)) };
}

describe("plain questions: the first sentence answers, and its moment is cited", () => {
  it.each([
    ["How much money is left?", /^Speaker 2 said at 00:06: “[^”]*eight thousand/, "1"],
    ["How many people will come to the party?", /^Tom said at 00:37: “We expect two hundred/, "6"],
    ["How much may we spend on catering?", /^Mary said at 00:18: “[^”]*two thousand/, "3"],
    ["What was the most expensive thing?", /farm is the largest cost/, "2"],
    ["Who will call the farm?", /^Speaker 2 said at 00:24: “I will call/, "4"],
    ['Who said "for free"?', /^Speaker 2 said/, "7"],
    ["Will the band be paid?", /for free/, "7"],
    ["When is the party and where?", /^Mary said at 00:30: “[^”]*saturday/i, "5"],
    ["When will the website go live?", /^Mary said at 00:48: “[^”]*first of June/i, "8"],
    ["When is the next meeting?", /^Mary said at 01:26: “[^”]*next monday/i, "14"],
    ["When did Tom mention the pictures?", /^Tom said at 00:55/, "9"],
    ["What was the first topic?", /start with the budget/, "0"],
    ["What happened in the first minute?", /./, "0"],
    ["Did anyone disagree about the website?", /should wait/, "9"],
    ["What is still open?", /don't know yet who brings the tents/, "13"],
    ["Is there any risk?", /it rains there is a risk/, "13"],
    ["Who first mentioned the website?", /^Mary said at 00:48/, "8"],
    ["Who spoke last?", /^Mary said at 01:26/, "14"],
    ["Who opened the meeting?", /^Mary said at 00:00/, "0"],
  ])("%s", (query, text, cited) => {
    const answer = ask(query);
    expect(answer.text).toMatch(text);
    expect(answer.cited).toContain(cited);
  });

  it("finds what “that is decided” confirms", () => {
    const { text, cited } = ask("What did we decide?");
    expect(text).toMatch(/first of June/i);
    expect(text).not.toContain("start with the budget");
    expect(cited).toContain("11");
  });

  it.each(["Who speaks the most?", "Who talks the most?", "Who did most of the talking?"])(
    "%s",
    (query) => {
      expect(ask(query).text).toMatch(/Speaker 2 spoke the most: \d+ seconds in 5 utterances\.$/);
    },
  );

  it("says how a length was computed", () => {
    expect(ask("How long did Tom speak?")).toMatchObject({
      text: "Tom spoke for 12 seconds: the sum of 4 utterances, 24 % of the speaking time.",
      cited: ["2", "6", "9", "12"],
    });
    expect(ask("How long was the meeting?").text).toMatch(
      /^It lasted 1 min 29 s \(89 seconds\), from the first word at 00:00 to the last one at 01:28\.$/,
    );
    expect(ask("How long did we talk about the website?").text).toMatch(
      /^About \d+ seconds: the sum of 5 utterances that mention “website” or lie between two that do, from 00:48 to 01:13/,
    );
  });
});

describe("plain questions: nothing bears an answer", () => {
  it.each([
    "What will the weather be tomorrow?",
    "Who bought the tickets?",
    "When does the train leave?",
    "How many cars do we need?",
    "How long did Zoe speak?",
    "Who is the best football player?",
    "When is the Christmas party?",
  ])("%s", (query) => {
    expect(ask(query)).toMatchObject({
      text: "I found nothing about that in this conversation.",
      citations: [],
    });
  });
});

describe("plain questions: their kind", () => {
  it.each([
    ["How long did we talk about shoes?", "topic-time"],
    ["How much time did Anna spend speaking?", "speaking-time"],
    ["Who had the last word?", "last-speaker"],
    ["Who talked the least?", "least"],
    ["When do we meet again?", "next"],
    ["At what point did Ben bring up shoes?", "when-said"],
    ["What is the deadline for the report?", "when"],
    ["Which questions remained unresolved?", "open"],
    ["How many shoes do we sell?", "number"],
    ["How many people spoke?", undefined],
    ["How many times was the shop mentioned?", undefined],
    ["Summarise the conversation", undefined],
  ])("%s is %s", (text, kind) => {
    expect(readPlainKind(text)).toBe(kind);
  });
});
