import type { Conversation } from "../../src/wire/gen/voice/v1/retrieval.ts";
import { heardText } from "./heard-text.ts";

/** A turn: label, second at which it starts, words. */
export type SpokenTurn = readonly [label: string, second: number, text: string];

const MS_PER_WORD = 300;

/** A conversation as the worker gets it; the segments are named by their place, `[words?]` unclear. */
export function spokenConversation(
  turns: readonly SpokenTurn[],
  names: Readonly<Record<string, string>> = {},
  fields: Partial<Conversation> = {},
): Conversation {
  return {
    sessionId: "session",
    title: "",
    language: "en",
    startedAtMs: Date.UTC(2026, 0, 31, 9, 30),
    voices: [...new Set(turns.map(([label]) => label))].map((label) => ({
      label,
      name: names[label] ?? "",
      isAsker: false,
    })),
    passages: turns.map(([label, second, text], index) => ({
      segmentId: `segment-${index}`,
      startMs: second * 1_000,
      endMs: second * 1_000 + text.split(" ").length * MS_PER_WORD,
      label,
      ...heardText(text),
    })),
    ...fields,
  };
}

/** The shipped conversation as a recogniser hears it: no full stops, small letters. */
export const LAUNCH: readonly SpokenTurn[] = [
  ["S1", 0, "hello everyone today we will talk about the launch of the new system"],
  ["S2", 5, "the team finished their work on friday we did not find any big problems"],
  [
    "S3",
    10,
    "that is very good news will we be ready to open our new shop in the first week of march",
  ],
  ["S1", 16, "yes we will we decided to start on monday the second of march"],
  ["S2", 21, "then i will write to all of our customers before the end of this month"],
  [
    "S3",
    26,
    "and i will talk to the people in new york about the price it should stay below one hundred dollars",
  ],
  ["S1", 32, "we need to see the final report by wednesday"],
  ["S2", 35, "yes you will have the report on wednesday morning"],
  ["S3", 38, "we have made the decision thank you all for your time"],
];

export const LAUNCH_NAMES = { S1: "Anna Smith", S2: "Ben", S3: "Alan" };
