import {
  plainCues,
  toPlainSrt,
  toPlainVtt,
} from "../conversations/transcript/writing/export-formats.ts";
import type { Writing } from "../conversations/transcript/writing/written-segments.ts";
import { presentDeepgram } from "./deepgram-answers.ts";
import { diarizedAnswer, jsonAnswer, textOf, verboseAnswer } from "./openai-answers.ts";
import type { OpenAiOrder } from "./openai-form.ts";
import type { DeepgramForm, Transcription } from "./transcription.ts";

/** The form in which an answer is wanted, and how its words are written. */
export type AnswerForm = { writing: Pick<Writing, "style" | "numbers"> } & (
  | ({ dialect: "openai" } & Pick<OpenAiOrder, "format" | "granularities">)
  | ({ dialect: "deepgram"; about: { sha256: string; createdAt: number } } & DeepgramForm)
);

/** The body of the answer to a recording. */
export function writeAnswer(said: Transcription, form: AnswerForm): string {
  if (form.dialect === "deepgram") return JSON.stringify(presentDeepgram(said, form, form.about));
  const soundEnd = Math.round(said.durationSeconds * 1_000);
  switch (form.format) {
    case "json":
      return JSON.stringify(jsonAnswer(said));
    case "verbose_json":
      return JSON.stringify(verboseAnswer(said, form.granularities));
    case "diarized_json":
      return JSON.stringify(diarizedAnswer(said));
    case "text":
      return `${textOf(said.segments)}\n`;
    case "srt":
      return toPlainSrt(plainCues(said.segments, soundEnd));
    case "vtt":
      return toPlainVtt(plainCues(said.segments, soundEnd));
  }
}
