import { deflateSync } from "node:zlib";
import { type Static, Type } from "@sinclair/typebox";
import { toSeconds } from "../base/audio/sample-rate.ts";
import type { SegmentRecord } from "../conversations/transcript/writing/segment-record.ts";
import type { Writing } from "../conversations/transcript/writing/written-segments.ts";
import type { Transcription } from "./transcription.ts";

const usage = Type.Object(
  {
    type: Type.Literal("duration", { description: "Counted by the length of the sound" }),
    seconds: Type.Number({ description: "Its length, whole seconds", examples: [3] }),
  },
  { description: "How much was transcribed" },
);

const seconds = (what: string) =>
  Type.Number({ description: `${what}, seconds from the recording's beginning` });

const verboseWord = Type.Object({
  word: Type.String({ description: "The word with its capitals and marks" }),
  start: seconds("When it begins"),
  end: seconds("When it ends"),
});

const verboseSegment = Type.Object({
  id: Type.Integer({ description: "Its place, from 0 on", examples: [0] }),
  seek: Type.Integer({ description: "Always 0: recordings are read as a whole", examples: [0] }),
  start: seconds("When it begins"),
  end: seconds("When it ends"),
  text: Type.String({ description: "What was said" }),
  tokens: Type.Array(Type.Integer(), {
    description: "Always empty: the engines here have none",
    examples: [[]],
  }),
  temperature: Type.Number({ description: "Always 0: nothing is sampled", examples: [0] }),
  avg_logprob: Type.Number({
    description: "The natural logarithm of the mean confidence of its words",
    examples: [-0.07],
  }),
  compression_ratio: Type.Number({
    description: "Bytes of the text by bytes of it compressed (zlib)",
    examples: [0.8],
  }),
  no_speech_prob: Type.Number({
    description: "Always 0: only what is taken for speech has words",
    examples: [0],
  }),
});

/** The bodies of the answer, by `response_format`. */
export const openAiAnswer = Type.Union(
  [
    Type.Object({ text: Type.String({ description: "What was said" }), usage }),
    Type.Object({
      task: Type.Literal("transcribe", { description: "What was done" }),
      language: Type.String({ description: "By its English name", examples: ["english"] }),
      duration: Type.Number({ description: "Of the recording, seconds" }),
      text: Type.String({ description: "What was said" }),
      segments: Type.Optional(
        Type.Array(verboseSegment, { description: "With the granularity `segment`" }),
      ),
      words: Type.Optional(Type.Array(verboseWord, { description: "With the granularity `word`" })),
      usage,
    }),
    Type.Object({
      task: Type.Literal("transcribe", { description: "What was done" }),
      duration: Type.Number({ description: "Of the recording, seconds" }),
      text: Type.String({ description: "What was said" }),
      segments: Type.Array(
        Type.Object({
          type: Type.Literal("transcript.text.segment", { description: "What it is" }),
          id: Type.String({ description: "UUID of the segment" }),
          start: seconds("When it begins"),
          end: seconds("When it ends"),
          text: Type.String({ description: "What was said" }),
          speaker: Type.String({ description: "`S1`, `S2`, …, or `UU` when unknown" }),
        }),
        { description: "What each voice said, in order" },
      ),
      usage,
    }),
  ],
  {
    $id: "OpenAiTranscription",
    description: "`json`, `verbose_json` and `diarized_json`, in this order",
  },
);

type Answer = Static<typeof openAiAnswer>;

/** Their words are written as people write them. */
export const READABLE: Pick<Writing, "style" | "numbers"> = { style: "readable", numbers: "words" };

export function textOf(segments: readonly SegmentRecord[]): string {
  return segments.map(({ text }) => text).join(" ");
}

function usageOf(durationSeconds: number): Static<typeof usage> {
  return { type: "duration", seconds: Math.ceil(durationSeconds) };
}

function round(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}

const LANGUAGES = new Intl.DisplayNames(["en"], { type: "language" });

function languageName(tag: string): string {
  return (LANGUAGES.of(tag.split("-")[0] ?? tag) ?? tag).toLowerCase();
}

export function jsonAnswer(said: Transcription): Answer {
  return { text: textOf(said.segments), usage: usageOf(said.durationSeconds) };
}

/** `granularities`: `word`, `segment` or both. */
export function verboseAnswer(said: Transcription, granularities: ReadonlySet<string>): Answer {
  const { segments } = said;
  return {
    task: "transcribe",
    language: languageName(said.language),
    duration: round(said.durationSeconds),
    text: textOf(segments),
    ...(granularities.has("segment") && { segments: segments.map(verbose) }),
    ...(granularities.has("word") && {
      words: segments.flatMap(({ words }) =>
        words.map(({ text: word, start, end }) => ({
          word,
          start: toSeconds(start),
          end: toSeconds(end),
        })),
      ),
    }),
    usage: usageOf(said.durationSeconds),
  };
}

function verbose({ text, start, end, confidence }: SegmentRecord, id: number) {
  const bytes = Buffer.from(text);
  return {
    ...{ id, seek: 0, start: toSeconds(start), end: toSeconds(end), text },
    ...{ tokens: [], temperature: 0, no_speech_prob: 0 },
    avg_logprob: round(Math.log(Math.max(confidence, Number.MIN_VALUE))),
    compression_ratio: round(bytes.byteLength / deflateSync(bytes).byteLength),
  };
}

export function diarizedAnswer(said: Transcription): Answer {
  const { segments } = said;
  return {
    task: "transcribe",
    duration: round(said.durationSeconds),
    text: textOf(segments),
    segments: segments.map(({ id, start, end, text, label }) => ({
      ...{ type: "transcript.text.segment" as const, id, text, speaker: label },
      ...{ start: toSeconds(start), end: toSeconds(end) },
    })),
    usage: usageOf(said.durationSeconds),
  };
}

/** An event that tells a part of the text; all of them, joined, are the text. */
export function deltaEvent(delta: string): string {
  return sse({ type: "transcript.text.delta", delta });
}

/** The last event. */
export function doneEvent(text: string, durationSeconds: number): string {
  return sse({ type: "transcript.text.done", text, usage: usageOf(durationSeconds) });
}

function sse(event: { type: string; [member: string]: unknown }): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}
