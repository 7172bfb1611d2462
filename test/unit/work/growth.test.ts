import { describe, expect, it } from "vitest";
import { writeComparison } from "../../../src/conversations/transcript/writing/comparison-document.ts";
import { srtCues, toSrt } from "../../../src/conversations/transcript/writing/export-formats.ts";
import { segmentsOf } from "../../../src/conversations/transcript/writing/segment-row.ts";
import {
  type TranscriptOrder,
  writeTranscript,
} from "../../../src/conversations/transcript/writing/transcript-document.ts";
import { writeAnswer } from "../../../src/openai-deepgram/answers.ts";
import { longTalk } from "../../support/long-talk.ts";
import { growthOf, MOST_TIMES, type WalkedInput } from "../../support/work-growth.ts";

const NOBODY = new Map<string, string>();
/** Written in a thread. */
const LONG = { largest: "one speaker, eight hours", size: 5_000, inThread: true };
const FORMATS = ["json", "txt", "md", "srt", "vtt", "rttm"] as const;
const ID = "01a217f6-1059-7000-8000-000000000000";
const ABOUT: TranscriptOrder["about"] = {
  ...{ session_id: ID, title: "Talk", language: "en", status: "completed", speakers: [] },
};
const RAW = { style: "raw", numbers: "words" } as const;
const SAID = {
  ...{ sessionId: ID, language: "en", engine: "any", durationSeconds: 1, channels: 1 },
  channelOf: new Map<string, number>(),
};

const PLACES: readonly WalkedInput[] = [
  {
    ...{ place: "a session's segments as JSON text, read", ...LONG },
    prepare: (size) => of(jsonOf(longTalk(size)), segmentsOf),
  },
  ...FORMATS.map((format) => ({
    ...{ place: `a transcript as ${format}`, ...LONG },
    prepare: (size: number) =>
      of(longTalk(size), (talk) =>
        writeTranscript(
          {
            format,
            hasWords: true,
            about: ABOUT,
            gaps: [],
            marks: [],
            names: NOBODY,
            head: { startedAt: 0, notes: [] },
            soundEnd: undefined,
          },
          talk,
          talk,
        ),
      ),
  })),
  {
    ...{ place: "captions of a text of single letters", largest: "10,000 letters", size: 5_000 },
    prepare: (size) => of(edited("a ".repeat(size)), (talk) => toSrt(srtCues(talk, NOBODY))),
  },
  {
    ...{ place: "an answer in OpenAI's form", ...LONG },
    prepare: (size) =>
      of(longTalk(size), (segments) =>
        writeAnswer(
          { ...SAID, segments },
          {
            ...{ dialect: "openai", format: "verbose_json", writing: RAW },
            granularities: new Set(["word", "segment"]),
          },
        ),
      ),
  },
  {
    ...{ place: "an answer in Deepgram's form", ...LONG },
    prepare: (size) =>
      of(longTalk(size), (segments) =>
        writeAnswer(
          { ...SAID, segments },
          {
            ...{ dialect: "deepgram", writing: RAW, about: { sha256: "", createdAt: 0 } },
            ...{ diarize: true, paragraphs: true, utterances: true },
          },
        ),
      ),
  },
  {
    ...{ place: "a comparison of two texts", ...LONG },
    prepare: (size) => of(comparedOf(size), (json) => writeComparison(COMPARED, json)),
  },
];

const COMPARED = {
  ...{ session_id: ID, job_id: ID, transcription_id: ID, edits_replaced: 0 },
  ...{ created_at: "2026-01-31T12:00:00.000Z", expires_at: "2026-02-28T12:00:00.000Z" },
};

/** As the database gives it. */
function jsonOf(talk: ReturnType<typeof longTalk>): string {
  return JSON.stringify(talk.map((each) => ({ ...each, speakerConfidence: null, overlaps: null })));
}

/** Two texts that differ in some words, of other segments and speakers. */
function comparedOf(size: number): string {
  const rows = [longTalk(size), longTalk(size, 3).slice(1)].flatMap((talk, text) =>
    talk.map(({ label, words }) => ({ isCandidate: text === 1, isKept: false, label, words })),
  );
  return JSON.stringify(rows);
}

function of<T>(input: T, walk: (input: T) => unknown): () => unknown {
  return () => walk(input);
}

/** A session whose one segment was given this text. */
function edited(text: string) {
  return longTalk(1).map((segment) => ({ ...segment, text: text.trim() }));
}

describe("work", () => {
  it.each(PLACES)("work: $place takes in proportion to its input", (walked) => {
    const { times, ms, most } = growthOf(walked);
    expect(times).toBeLessThanOrEqual(MOST_TIMES);
    expect(ms).toBeLessThanOrEqual(most);
  });
});
