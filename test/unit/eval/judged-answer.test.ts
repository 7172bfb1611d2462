import { describe, expect, it } from "vitest";
import { type Expected, faultsOf } from "../../eval/judged-answer.ts";
import { spokenConversation } from "../../support/spoken-conversation.ts";

const conversation = spokenConversation(
  [
    ["S1", 0, "The lease ends in May."],
    ["S2", 4, "Grad C will ask for twelve more months."],
    ["S1", 9, "The rent is three hundred."],
  ],
  { S1: "Ada", S2: "Grad C" },
);
const passages = conversation.passages.map((passage, at) => ({
  ...passage,
  segmentId: String(at),
}));

function faults(text: string, cited: number[], expected: Expected): string[] {
  const citations = cited.map((at) => ({ sessionId: "s", segmentId: String(at) }));
  return faultsOf(expected, { text, citations }, { ...conversation, passages });
}

describe("plain questions: how an answer is judged", () => {
  it("wants the evidence among the first three citations", () => {
    expect(faults("In May.", [1, 2, 0], { citesAny: [0] })).toEqual([]);
    expect(faults("In May.", [1, 2, 1, 0], { citesAny: [0] })).toHaveLength(1);
    expect(faults("In May.", [], { citesAny: [0] })).toHaveLength(1);
  });

  it("reads who is named first outside of quoted words, or else who is cited first", () => {
    expect(faults("Grad C and Ada: “Ada”.", [0], { who: ["Grad C", "S2"] })).toEqual([]);
    expect(faults("“Grad C will ask”, said Ada.", [1], { who: ["S1"] })).toEqual([]);
    expect(faults("“Grad C will ask”, said Ada.", [1], { who: ["Grad C", "S2"] })).toHaveLength(1);
    expect(faults("Speaker 2 did.", [0], { who: ["S2"] })).toEqual([]);
    expect(faults("Yes.", [1], { who: ["S2"] })).toEqual([]);
  });

  it("wants one of some patterns, and each of others", () => {
    expect(faults("It ends in May.", [], { says: ["june", "in may\\b"] })).toEqual([]);
    expect(faults("It ends in May.", [], { says: ["june"] })).toHaveLength(1);
    expect(faults("It ends in May.", [], { saysAll: ["ends", "june"] })).toHaveLength(1);
  });

  it("takes the first number that is no time, share, length or label", () => {
    const said = "“May” at 00:04, by Speaker 2 (20 %) in 3 s and Grad C: twice, not 5 times.";
    expect(faults(said, [0], { number: [2], tolerance: 0 })).toEqual([]);
    expect(faults(said, [0], { number: [5], tolerance: 0 })).toHaveLength(1);
    expect(faults("1,205 times.", [0], { number: [1_200], tolerance: 0.01 })).toEqual([]);
  });

  it.each([
    ["1 min 20 s (80 seconds), 3 s", 80],
    ["1:20 of 2:30", 80],
    ["80 seconds", 80],
    ["1 hour and 20 minutes", 4_800],
  ])("takes the first length: %s", (text, seconds) => {
    expect(faults(text, [0], { seconds, tolerance: 0.05 })).toEqual([]);
    expect(faults(text, [0], { seconds: seconds * 1.1, tolerance: 0.05 })).toHaveLength(1);
  });

  it("wants a refusal that claims nothing", () => {
    expect(faults("I found nothing about that.", [], { nothing: true })).toEqual([]);
    expect(faults("I found nothing about that.", [1], { nothing: true })).toHaveLength(1);
    expect(faults("It ends in May.", [], { nothing: true })).toHaveLength(1);
  });
});
