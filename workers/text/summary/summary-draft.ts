import type { Summary, SummaryItem } from "../../../src/wire/gen/voice/v1/text.ts";
import { polish } from "../language/polish.ts";
import type { Sentence, SpokenText } from "./spoken-text.ts";

/** What is told to readers, and the sources of each part of it. */
export type SummaryDraft = Omit<Summary, "engine">;

/** Works in steps; yields the share that is done, 0..1. */
export type Summariser = (text: SpokenText) => Generator<number, SummaryDraft>;

/** An item that quotes one sentence. */
export function quote(sentence: Sentence, english: boolean): SummaryItem {
  const { segmentId, speaker, text } = sentence;
  return { text: polish(text, english), segmentIds: [segmentId], speaker };
}

/** A draft with one line for each item. */
export function toList(items: SummaryItem[], toLine: (item: SummaryItem) => string): SummaryDraft {
  return { text: items.map((item) => `- ${toLine(item)}`).join("\n"), items };
}

/** A draft that says honestly that there is nothing, and why. */
export function nothing(text: string): SummaryDraft {
  return { text, items: [] };
}
