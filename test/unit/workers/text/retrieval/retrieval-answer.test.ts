import { describe, expect, it } from "vitest";
import type { Conversation } from "../../../../../src/wire/gen/voice/v1/retrieval.ts";
import { answerQuestion } from "../../../../../workers/text/retrieval/answer.ts";
import { likeness } from "../../../../../workers/text/retrieval/search.ts";
import { finish } from "../../../../support/finish-steps.ts";
import {
  LAUNCH,
  LAUNCH_NAMES,
  spokenConversation,
} from "../../../../support/spoken-conversation.ts";

const launch = spokenConversation(LAUNCH, LAUNCH_NAMES);

function ask(query: string, conversations: Conversation[] = [launch], across = false) {
  const answer = finish(answerQuestion({ query, nowMs: 0, across, conversations }));
  return { ...answer, cited: answer.citations.map(({ segmentId }) => segmentId.slice(8)).join() };
}

describe("answer: quotes", () => {
  it.each([
    ["What should the price stay below?", "5"],
    ["What did Anna say about the report?", "6"],
    ["When will the shop open?", "2,3"],
    ["Who will write to the customers?", "4"],
    ["who said “good news”?", "2"],
    ["100 dollars?", "5"],
    ["What was decided?", "3,8"],
    ["What did Alan promise?", "5"],
    ["what was said in the first 4 seconds about the launch?", "0"],
  ])("%s", (query, cited) => {
    expect(ask(query).cited).toBe(cited);
  });

  it("says who said it and when, in the order of the conversation", () => {
    expect(ask("What was said about the report?").text).toBe(
      "Anna Smith said at 00:32: “We need to see the final report by Wednesday.” " +
        "Ben said: “You will have the report on Wednesday morning.”",
    );
  });

  it("tells the time again a minute after the last one that it told", () => {
    const conversation = spokenConversation([
      ["S1", 10, "The report is late."],
      ["S1", 40, "The report has nine pages."],
      ["S2", 69, "Who reads the long report?"],
      ["S2", 70, "The report goes to the printer."],
      ["S1", 130, "Bind the report in blue."],
    ]);
    expect(ask("What was said about the report?", [conversation]).text).toBe(
      "Speaker 1 said at 00:10: “The report is late.” “The report has nine pages.” " +
        "Speaker 2 said: “Who reads the long report?” and at 01:10: “The report goes to the printer.” " +
        "Speaker 1 said at 02:10: “Bind the report in blue.”",
    );
  });

  it("are given of what was said once in a long conversation, and none of what strangers did", () => {
    const items = Array.from({ length: 900 }, (_, n): [string, number, string] => [
      n % 2 === 0 ? "S1" : "S2",
      n * 4,
      `Then we go on with item ${n} of the long plan for the new shop and its rooms.`,
    ]);
    items[500] = ["S1", 2_000, "My dentist moved the appointment to the afternoon."];
    const long = spokenConversation(items, LAUNCH_NAMES);
    expect(ask("What was said about the dentist?", [long]).cited).toBe("500");
    expect(ask("What did Morgan, Julie and Kim say about the shop?", [long]).cited).toBe("");
    expect(ask("What was said about the shop?", [long]).cited).not.toBe("");
    const budget = "What was said about the tight budget of the garden";
    items[899] = ["S1", 3_596, "The budget is tight, so it waits for the next year."];
    const late = spokenConversation(items, LAUNCH_NAMES);
    expect(ask(`${budget} in the last minute?`, [late]).cited).toBe("899");
  });

  it("is the same each time", () => {
    const once = ask("Summarise the conversation");
    expect(ask("Summarise the conversation")).toEqual(once);
    expect(once.citations.length).toBeGreaterThan(2);
  });

  it("finds a word that was heard wrong", () => {
    const answer = ask("when is the final raport due?");
    expect(answer.cited).toBe("6,7");
    expect(answer.toolsUsed).toContain("fuzzy_match");
    expect(likeness("report", "raport")).toBeGreaterThan(0.5);
    expect(likeness("report", "reporter")).toBeGreaterThan(likeness("report", "repeat"));
  });

  it("says that questions are understood in English only, where nothing is found in another language", () => {
    const spoken = spokenConversation([["S1", 0, "wir haben beschlossen am Montag zu beginnen"]]);
    const conversation = { ...spoken, language: "de" };
    const note = / Questions are understood in English only; of what was said in de, /;
    expect(ask("Wer schreibt den Bericht?", [conversation]).text).toMatch(note);
    expect(ask("What was decided?", [conversation]).text).toMatch(note);
    expect(ask("Montag", [conversation]).text).not.toMatch(note);
    expect(ask("Who ate the cake?").text).not.toMatch(note);
  });

  it("leaves noises out of a quotation", () => {
    const conversation = spokenConversation([["S1", 0, "uh the the price is, um, ten euros"]]);
    expect(ask("what is the price", [conversation]).text).toBe(
      "Speaker 1 said at 00:00: “The price is, ten euros.”",
    );
  });
});

describe("answer: counts and lists", () => {
  it("counts mentions and who made them", () => {
    const { text, cited } = ask("How often was the report mentioned?");
    expect(text).toBe("“report” was mentioned twice (Anna Smith 1, Ben 1), first at 00:32.");
    expect(cited).toBe("6,7");
  });

  it("tells who spoke and how much", () => {
    expect(ask("Who spoke the most?").text).toMatch(/^3 people spoke: Alan \(\d+ %\), /);
  });

  it("lists the conversations that speak of it", () => {
    const shoes = spokenConversation(
      [["S1", 3, "we sell red shoes in march"]],
      {},
      {
        sessionId: "shoes",
        title: "Shop",
      },
    );
    const answer = ask("Which sessions mention shoes?", [launch, shoes], true);
    expect(answer.text).toContain("“Shop” (2026-01-31): Speaker 1 said at 00:03");
    expect(answer.citations).toEqual([{ sessionId: "shoes", segmentId: "segment-0" }]);
    expect(answer.toolsUsed).toContain("list_sessions");
  });

  it("names the conversation of each quotation when there are several", () => {
    const shoes = spokenConversation(
      [["S1", 3, "the price of shoes is high"]],
      {},
      {
        sessionId: "shoes",
      },
    );
    const { text } = ask("What was said about the price?", [launch, shoes], true);
    expect(text).toContain("In the conversation of 2026-01-31: Alan said");
    expect(text.split("\n")).toHaveLength(2);
  });
});

describe("answer: nothing found", () => {
  it.each([
    "What did they say about elephants?",
    "What did Ben say about the price?",
    'Who said "bad news"?',
    "What was said about the report in the first 10 seconds?",
    "How often were elephants mentioned?",
  ])("%s", (query) => {
    expect(ask(query)).toMatchObject({
      text: "I found nothing about that in this conversation.",
      citations: [],
    });
  });

  it("says so of an empty conversation", () => {
    const empty = spokenConversation([]);
    expect(ask("What about shoes?", [empty]).text).toBe(
      "Nothing was said in this conversation yet.",
    );
    expect(ask("Summarise it", [], true).citations).toEqual([]);
  });

  it("takes any text as a question", () => {
    for (const query of ["?", "'''", "a".repeat(2_000), "\u0000 (((", "”“", "who who who what"]) {
      expect(ask(query).text.length).toBeGreaterThan(0);
    }
  });
});

describe("answer: unclear words", () => {
  const noisy = spokenConversation([
    ["S1", 0, "we will open the new shop in march"],
    ["S2", 116, "[no on a desktop il find the shit to support?]"],
    ["S1", 130, "the rent for the big building on the old corner is [nine hundred?]"],
  ]);

  it("finds nothing where only unclear words match, and says where it may have been", () => {
    expect(ask("What about the desktop?", [noisy])).toMatchObject({
      text: "I found nothing about that in this conversation. What was not heard clearly at 01:56 may be about it.",
      citations: [],
    });
    expect(ask("What about bananas?", [noisy]).text).toBe(
      "I found nothing about that in this conversation.",
    );
    const titled = { ...noisy, title: "Lunch" };
    expect(ask("What about the desktop?", [titled], true).text).toContain(
      "What was not heard clearly in “Lunch” (2026-01-31) at 01:56 may be about it.",
    );
  });

  it("quotes a sentence with few unclear words, marked", () => {
    expect(ask("What is the rent of the building?", [noisy]).text).toBe(
      "Speaker 1 said at 02:10: “The rent for the big building on the old corner is [nine hundred?].”",
    );
  });

  it("never quotes what is mostly unclear, in whatever way it is asked", () => {
    for (const query of [
      "Summarise the conversation",
      "What did speaker 2 say?",
      "How often was support mentioned?",
      "Who spoke about the desktop?",
      "What was decided?",
      "who said “find the shit”?",
    ]) {
      const answer = ask(query, [noisy]);
      expect(answer.text).not.toMatch(/desktop il|shit/);
      expect(answer.cited).not.toContain("1");
    }
  });

  it("takes no quoted phrase across an unclear word", () => {
    const said = spokenConversation([["S1", 0, "we open the [old?] shop when the spring is here"]]);
    expect(ask("who said “the shop when”?", [said]).citations).toEqual([]);
    expect(ask("who said “shop when”?", [said]).cited).toBe("0");
  });

  it("says so when hardly anything could be understood", () => {
    const garbage = spokenConversation([["S1", 0, "[fuck the shaft il find?]"]]);
    for (const query of ["Summarise it", "What was decided?", "What about the weather?"]) {
      expect(ask(query, [garbage])).toMatchObject({
        text: "Hardly anything could be understood in this conversation.",
        citations: [],
      });
    }
    expect(ask("Who spoke?", [garbage]).text).toContain("One person spoke");
  });
});
