import { Type } from "@sinclair/typebox";
import { describe, expect, it } from "vitest";
import { parseWavHeader } from "../../../src/base/audio/wav.ts";
import { MAX_PASSAGES } from "../../../src/conversations/questions/by-rule.ts";
import {
  PASSAGES_PAGE,
  passageRow,
} from "../../../src/conversations/questions/conversations-store.ts";
import { spreadWords } from "../../../src/conversations/transcript/segments-store.ts";
import {
  presentRevised,
  presentWords,
} from "../../../src/conversations/transcript/writing/present-segments.ts";
import { segmentRow } from "../../../src/conversations/transcript/writing/segment-row.ts";
import { parseJson } from "../../../src/http/server/request-body.ts";
import { SchemaChecks } from "../../../src/rest/schema-check.ts";
import { Conversation } from "../../../src/wire/gen/voice/v1/retrieval.ts";
import { cutToName, nameSchema } from "../../../src/wire/names.ts";
import { inOneLine } from "../../../src/wire/one-line.ts";
import { joinVocabulary, vocabularySchema } from "../../../src/wire/vocabulary.ts";
import { longTalk } from "../../support/long-talk.ts";
import { growthOf, MOST_TIMES, type WalkedInput } from "../../support/work-growth.ts";

const BODY = { largest: "a body of 1 MiB", size: 1_048_576 };
const checks = new SchemaChecks();
const words = checks.body(vocabularySchema("any"));
const named = checks.body(Type.Object({ name: nameSchema({ maxLength: 200 }) }));

function of<T>(input: T, walk: (input: T) => unknown): () => unknown {
  return () => walk(input);
}

/** As many values as JSON may hold, in so many bytes. */
const VALUES = { largest: "20,000 values in 1 MiB", size: 20_000 };

/** JSON: a list of so many items. */
function listOf(item: string, count: number): Buffer {
  return Buffer.from(`[${Array.from({ length: count }, () => item).join(",")}]`);
}

/** JSON of so many members, all with other names. */
function membersOf(count: number): Buffer {
  const members = Array.from(
    { length: count },
    (_, n) => `"${n}":"\\ud83d\\ude00${"é".repeat(13)}"`,
  );
  return Buffer.from(`{${members.join(",")}}`);
}

/** A WAV file whose header goes on with chunks without a byte. */
function longHeader(bytes: number): Uint8Array {
  const header = Buffer.alloc(bytes);
  header.write("RIFF", 0, "latin1");
  header.write("WAVE", 8, "latin1");
  for (let at = 12; at + 8 <= bytes; at += 8) header.write("junk", at, "latin1");
  return header;
}

const PLACES: readonly WalkedInput[] = [
  {
    ...{ place: "JSON of short texts", ...VALUES },
    prepare: (size) => of(listOf('""', size), (bytes) => parseJson(bytes)),
  },
  {
    ...{ place: "JSON of escapes", ...VALUES },
    prepare: (size) =>
      of(listOf('"\\ud83d\\ude00\\ud83d\\ude00"', size), (bytes) => parseJson(bytes)),
  },
  {
    ...{ place: "JSON of one text of escapes", ...BODY },
    prepare: (size) =>
      of(Buffer.from(`"${"\\ud83d\\ude00".repeat(size / 13)}"`), (bytes) => parseJson(bytes)),
  },
  {
    ...{ place: "JSON of members with escapes", ...VALUES },
    prepare: (size) => of(membersOf(size), (bytes) => parseJson(bytes)),
  },
  {
    ...{ place: "the check of a vocabulary", ...VALUES },
    prepare: (size) => of(parseJson(listOf('"a"', size)), words),
  },
  {
    ...{ place: "the check of a name of marks", ...BODY },
    prepare: (size) => {
      const name = `a${"\u0301\u0316".repeat(size / 4)}`;
      return () => named({ name });
    },
  },
  {
    ...{ place: "the name of a file", largest: "a header of 64 KiB", size: 65_536 },
    prepare: (size) => of(`a${"\u0301\u0316".repeat(size / 4)}`, (text) => cutToName(text, 200)),
  },
  {
    ...{ place: "a vocabulary joined with others", largest: "500 phrases, three times", size: 500 },
    prepare: (size) => {
      const lists = ["a", "b", "c"].map((each) =>
        Array.from({ length: size }, (_, n) => `${each}${n}`.padEnd(100, each)),
      );
      return () => joinVocabulary(...lists);
    },
  },
  {
    ...{ place: "the words of an edited segment", largest: "10,000 letters", size: 5_000 },
    prepare: (size) =>
      of("a ".repeat(size), (text) =>
        JSON.stringify(
          spreadWords(text.replace(/\s+/g, " ").trim(), { start: 0, end: 16_000, confidence: 1 }),
        ),
      ),
  },
  {
    ...{ place: "a text of breaks, for one line", largest: "10,000 letters", size: 10_000 },
    prepare: (size) => of("\u2028\u202e ".repeat(size / 3), inOneLine),
  },
  {
    ...{ place: "the header of a WAV file", largest: "256 KiB of it", size: 262_144 },
    prepare: (size) => of(longHeader(size), (bytes) => parseWavHeader(bytes)),
  },
  {
    ...{ place: "rows of a page of segments", largest: "200 of 15 words", size: 200 },
    prepare: (size) =>
      of(longTalk(size).map(asRow), (rows) => rows.map((row) => segmentRow.parse(row))),
  },
  {
    ...{ place: "a page of segments with their words", largest: "60,000 letters", size: 30_000 },
    prepare: (size) =>
      of(lettersOf(size), (talk) =>
        JSON.stringify(
          talk.map((each) => ({ ...presentRevised(each), words: presentWords(each.words) })),
        ),
      ),
  },
  {
    ...{ place: "a page of a question's passages, read", largest: "one page", size: PASSAGES_PAGE },
    prepare: (size) =>
      of(
        conversation(size).passages.map((each) => ({ ...each, sessionId: "s" })),
        (rows) => rows.map((row) => passageRow.parse(row)),
      ),
  },
  {
    ...{ place: "a question's passages, encoded", largest: "all", size: MAX_PASSAGES },
    prepare: (size) => of(conversation(size), (told) => Conversation.encode(told).finish()),
  },
];

/** A page of segments that somebody gave single letters as words: it ends with the first beyond 50,000. */
function lettersOf(words: number) {
  const text = "a ".repeat(words / 6).trim();
  return longTalk(6).map(({ words: _words, ...segment }) => {
    return { ...segment, text, words: spreadWords(text, segment) };
  });
}

/** A segment as its row is read. */
function asRow(segment: ReturnType<typeof longTalk>[number]): object {
  return { ...segment, speakerConfidence: null, overlaps: null };
}

function conversation(passages: number) {
  return {
    ...{ sessionId: "s", title: "Talk", language: "en", startedAtMs: 0, voices: [] },
    passages: longTalk(passages).map(({ id, start, end, label, text }) => {
      return { segmentId: id, startMs: start, endMs: end, label, text, unclear: [1, 10] };
    }),
  };
}

describe("work for requests", () => {
  it.each(PLACES)("work: $place takes in proportion to its input", (walked) => {
    const { times, ms, most } = growthOf(walked);
    expect(times).toBeLessThanOrEqual(MOST_TIMES);
    expect(ms).toBeLessThanOrEqual(most);
  });
});
