import type { Summary, SummaryItem } from "../../../src/wire/gen/voice/v1/text.ts";
import { polish } from "../language/polish.ts";
import type { Sentence, SpokenText } from "./spoken-text.ts";

/** A summary's text and the sources of each of its parts. */
export type SummaryDraft = Omit<Summary, "engine">;

/** Makes a summary in steps; yields the share that is done, 0..1. */
export type Summariser = (text: SpokenText) => Generator<number, SummaryDraft>;

/** An item that quotes one sentence. */
export function quote(
  sentence: Pick<Sentence, "segmentId" | "speaker" | "text">,
  english: boolean,
): SummaryItem {
  const { segmentId, speaker, text } = sentence;
  return { text: polish(text, english), segmentIds: [segmentId], speaker };
}

/** A draft with one line for each item. */
export function toList(items: SummaryItem[], toLine: (item: SummaryItem) => string): SummaryDraft {
  return { text: items.map((item) => `- ${toLine(item)}`).join("\n"), items };
}

/** A draft that says that there is nothing to report, and why. */
export function nothing(text: string): SummaryDraft {
  return { text, items: [] };
}

/** The draft of a summary whose rules are those of English. `what`: a plural that begins a sentence. */
export function englishOnly(what: string, { language }: SpokenText): SummaryDraft {
  return nothing(`${what} are recognised in English only; this session's language is ${language}.`);
}
