import {
  type CustomSection,
  SummariseRequest,
  SummariseResponse,
  type Summary,
  type TextSegment,
} from "../../src/wire/gen/voice/v1/text.ts";
import { summariseTask } from "../../workers/text/summary/summarise-task.ts";
import { heardText } from "./heard-text.ts";

/** Segments of four seconds, one for each `[speaker, text]`; in the text `[words?]` are unclear. */
export function saidBy(...lines: readonly (readonly [string, string])[]): TextSegment[] {
  return lines.map(([speaker, text], index) => ({
    id: `segment-${index}`,
    speaker,
    startMs: index * 4_000,
    endMs: index * 4_000 + 3_500,
    ...heardText(text),
    pauses: [],
  }));
}

/** What the task answers, and how far it said it was on the way. */
export function summariseText(
  summaryType: string,
  segments: readonly TextSegment[],
  language = "en",
  sections: readonly CustomSection[] = [],
): Summary & { fractions: number[] } {
  const request = { summaryType, language, segments: [...segments], sections: [...sections] };
  const fractions: number[] = [];
  let summary: Summary | undefined;
  for (const bytes of summariseTask(SummariseRequest.encode(request).finish())) {
    const message = bytes === undefined ? undefined : SummariseResponse.decode(bytes).message;
    if (message?.$case === "progress") fractions.push(message.value.fraction);
    if (message?.$case === "summary") summary = message.value;
  }
  if (summary === undefined) throw new Error("The task ended without a summary.");
  return { ...summary, fractions };
}
