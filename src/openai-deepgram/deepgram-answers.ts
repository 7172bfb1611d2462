import { type Static, Type } from "@sinclair/typebox";
import { toSeconds } from "../base/audio/sample-rate.ts";
import type { SegmentRecord } from "../conversations/transcript/writing/segment-record.ts";
import { exampleId } from "../rest/example-values.ts";
import type { DeepgramOrder } from "./deepgram-query.ts";
import type { DeepgramForm, Transcription } from "./transcription.ts";

const seconds = (what: string) =>
  Type.Number({ description: `${what}, seconds from the recording's beginning` });
const confidence = Type.Number({ description: "0 to 1" });
const speaker = Type.Optional(
  Type.Integer({
    minimum: 0,
    description: "With `diarize`: 0 for `S1`, 1 for `S2`, …; absent where it is not known",
    examples: [0],
  }),
);

const wordSchema = Type.Object(
  {
    word: Type.String({ description: "The word in lower case, without marks" }),
    start: seconds("When it begins"),
    end: seconds("When it ends"),
    confidence,
    punctuated_word: Type.Optional(
      Type.String({
        description: "With `punctuate` or `smart_format`: with capitals and marks",
      }),
    ),
    speaker,
  },
  { $id: "DeepgramWord" },
);

type WordAnswer = Static<typeof wordSchema>;

const sentenceSchema = Type.Object({
  text: Type.String({ description: "The sentence" }),
  start: seconds("When it begins"),
  end: seconds("When it ends"),
});

const paragraphsSchema = Type.Object(
  {
    transcript: Type.String({ description: "All of them, with an empty line between" }),
    paragraphs: Type.Array(
      Type.Object({
        sentences: Type.Array(sentenceSchema, { description: "Its sentences" }),
        num_words: Type.Integer({ description: "Number of its words", examples: [6] }),
        start: seconds("When it begins"),
        end: seconds("When it ends"),
        speaker,
      }),
      { description: "One for each turn of a voice" },
    ),
  },
  { description: "With `paragraphs` or `smart_format`" },
);

const utteranceSchema = Type.Object({
  id: Type.String({ description: "UUID of the segment", examples: [exampleId("segment_id")] }),
  start: seconds("When it begins"),
  end: seconds("When it ends"),
  confidence,
  channel: Type.Integer({
    minimum: 0,
    description: "With `multichannel` the channel that it was heard on, from 0; else 0",
    examples: [0],
  }),
  transcript: Type.String({ description: "What was said" }),
  words: Type.Array(wordSchema, { description: "Its words" }),
  speaker,
});

export const deepgramAnswer = Type.Object(
  {
    metadata: Type.Object(
      {
        transaction_key: Type.Literal("deprecated", { description: "As Deepgram tells it" }),
        request_id: Type.String({
          description: "UUID of the session",
          examples: [exampleId("session_id")],
        }),
        sha256: Type.String({
          description: "Of the recording as it was sent, in hex",
          examples: ["e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"],
        }),
        created: Type.String({
          description: "When it was asked for; RFC 3339, UTC",
          examples: ["2026-01-31T09:30:00.000Z"],
        }),
        duration: Type.Number({ description: "Of the recording, seconds", examples: [3.2] }),
        channels: Type.Integer({
          minimum: 1,
          description: "With `multichannel` how many the recording has; else 1, as they are mixed",
          examples: [1],
        }),
        models: Type.Array(Type.String(), {
          description: "The engine that read it",
          examples: [["moonshine-tiny-en"]],
        }),
        model_info: Type.Record(Type.String(), Type.Record(Type.String(), Type.String()), {
          description: "What is known of it",
          examples: [{ "moonshine-tiny-en": { name: "moonshine-tiny-en", version: "", arch: "" } }],
        }),
      },
      { description: "About the call" },
    ),
    results: Type.Object(
      {
        channels: Type.Array(
          Type.Object({
            alternatives: Type.Array(
              Type.Object({
                transcript: Type.String({ description: "What was said" }),
                confidence,
                words: Type.Array(wordSchema, { description: "All words, in order" }),
                paragraphs: Type.Optional(paragraphsSchema),
              }),
              { description: "Always one" },
            ),
          }),
          { description: "With `multichannel` one for each channel, in order; else one" },
        ),
        utterances: Type.Optional(
          Type.Array(utteranceSchema, { description: "With `utterances`" }),
        ),
      },
      { description: "What was said" },
    ),
  },
  { $id: "DeepgramTranscription", description: "In the form of Deepgram's interface" },
);

/** 0 for `S1`; undefined when unknown. */
function numberOf(label: string): number | undefined {
  const number = /^S(\d+)$/.exec(label)?.[1];
  return number === undefined ? undefined : Number(number) - 1;
}

/** What decides how words are told. */
export type AnswerStyle = Pick<DeepgramOrder, "writing" | "diarize">;

/** The words of a segment that is written as the caller wants it. */
function wordsOf(segment: SegmentRecord, { writing, diarize }: AnswerStyle): WordAnswer[] {
  const by = diarize ? numberOf(segment.label) : undefined;
  return segment.words.map(({ text, start, end, confidence }) => ({
    word: bare(text),
    start: toSeconds(start),
    end: toSeconds(end),
    confidence,
    ...(writing.style === "readable" && { punctuated_word: text }),
    ...(by !== undefined && { speaker: by }),
  }));
}

/** The word without the marks around it. */
function bare(text: string): string {
  return text.toLowerCase().replaceAll(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, "") || text;
}

function mean(words: readonly { confidence: number }[]): number {
  if (words.length === 0) return 0;
  return words.reduce((sum, word) => sum + word.confidence, 0) / words.length;
}

/** The one alternative that there is. */
export function alternativeOf(segments: readonly SegmentRecord[], telling: AnswerStyle) {
  const words = segments.flatMap((segment) => wordsOf(segment, telling));
  return {
    transcript: segments.map(({ text }) => text).join(" "),
    confidence: mean(words),
    words,
  };
}

export function presentModel(engine: string) {
  return { name: engine, version: "", arch: "" };
}

/** The answer to a recording. */
export function presentDeepgram(
  said: Transcription,
  order: DeepgramForm,
  { sha256, createdAt }: { sha256: string; createdAt: number },
): Static<typeof deepgramAnswer> {
  const { segments, durationSeconds, engine, channels } = said;
  // Finals of a session that another release of the service read tell no channel.
  const channelOf = ({ label }: SegmentRecord) => said.channelOf.get(label) ?? 0;
  return {
    metadata: {
      ...{ transaction_key: "deprecated", request_id: said.sessionId, sha256 },
      ...{ created: new Date(createdAt).toISOString(), duration: durationSeconds, channels },
      ...{ models: [engine], model_info: { [engine]: presentModel(engine) } },
    },
    results: {
      channels: Array.from({ length: channels }, (_, channel) => {
        const heard = segments.filter((each) => channelOf(each) === channel);
        const paragraphs = order.paragraphs && { paragraphs: paragraphsOf(heard, order) };
        return { alternatives: [{ ...alternativeOf(heard, order), ...paragraphs }] };
      }),
      ...(order.utterances && {
        utterances: segments.map((each) => utteranceOf(each, channelOf(each), order)),
      }),
    },
  };
}

function utteranceOf(segment: SegmentRecord, channel: number, order: DeepgramForm) {
  const { id, start, end, text: transcript } = segment;
  const words = wordsOf(segment, order);
  const by = order.diarize ? numberOf(segment.label) : undefined;
  return {
    ...{ id, start: toSeconds(start), end: toSeconds(end), confidence: mean(words) },
    ...{ channel, transcript, words },
    ...(by !== undefined && { speaker: by }),
  };
}

function paragraphsOf(segments: readonly SegmentRecord[], { diarize }: DeepgramForm) {
  const turns: SegmentRecord[][] = [];
  for (const segment of segments) {
    const last = turns.at(-1);
    if (last?.[0]?.label === segment.label) last.push(segment);
    else turns.push([segment]);
  }
  const paragraphs = turns.map((turn) => {
    const sentences = sentencesOf(turn.flatMap(({ words }) => words));
    const by = diarize ? numberOf(turn[0]?.label ?? "") : undefined;
    return {
      sentences,
      num_words: turn.reduce((sum, { words }) => sum + words.length, 0),
      start: sentences[0]?.start ?? 0,
      end: sentences.at(-1)?.end ?? 0,
      ...(by !== undefined && { speaker: by }),
    };
  });
  const texts = paragraphs.map(({ sentences, speaker: by }) => {
    const text = sentences.map((each) => each.text).join(" ");
    return by === undefined ? text : `Speaker ${by}: ${text}`;
  });
  return { transcript: texts.join("\n\n"), paragraphs };
}

function sentencesOf(words: SegmentRecord["words"]) {
  const sentences: { text: string; start: number; end: number }[] = [];
  let isOpen = false;
  for (const { text, start, end } of words) {
    const last = sentences.at(-1);
    if (isOpen && last !== undefined) {
      last.text += ` ${text}`;
      last.end = toSeconds(end);
    } else sentences.push({ text, start: toSeconds(start), end: toSeconds(end) });
    isOpen = !/[.?!]$/.test(text);
  }
  return sentences;
}
