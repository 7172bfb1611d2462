import { SESSION_RATE, toMilliseconds } from "../../base/audio/sample-rate.ts";
import { clockTime } from "../../wire/clock-time.ts";
import { inOneLine, withoutBreaks } from "../../wire/names.ts";
import { markUnclear, UNCLEAR_LEGEND, unclearPlaces } from "../../wire/unclear-words.ts";
import { isUnsure, markUnsure, UNSURE_LEGEND } from "../../wire/unsure-speakers.ts";
import type { SegmentRecord } from "./segments-store.ts";

type Spoken = Pick<SegmentRecord, "text" | "words">;

/**
 * The words of a segment's text, with the indexes of the unclear ones. The text of an edited
 * segment may have other words than were recognised; then none is marked.
 */
function spokenWords({ text, words }: Spoken): { texts: string[]; unclear: number[] } {
  const texts = withoutBreaks(text)
    .split(/\s+/)
    .filter((word) => word !== "");
  return { texts, unclear: texts.length === words.length ? unclearPlaces(words) : [] };
}

/**
 * The claimed name of a segment's label, in one line, else the label; with a question mark when it is
 * a guess.
 */
function speakerOf(
  { label, speakerConfidence }: Pick<SegmentRecord, "label" | "speakerConfidence">,
  names: ReadonlyMap<string, string>,
): string {
  return markUnsure(inOneLine(names.get(label) ?? label), isUnsure(speakerConfidence));
}

/** Explains the marks that the segments' texts contain. */
function legends(segments: readonly SegmentRecord[]): string[] {
  const shown = segments.filter(({ text }) => text !== "");
  return [
    ...(shown.some(hasUnclear) ? [UNCLEAR_LEGEND] : []),
    ...(shown.some((segment) => isUnsure(segment.speakerConfidence)) ? [UNSURE_LEGEND] : []),
  ];
}

function hasUnclear(segment: Spoken): boolean {
  return spokenWords(segment).unclear.length > 0;
}

/**
 * A segment's text for people, with its unclear words marked. `quote` escapes characters that the
 * format would interpret.
 */
function markedText(segment: Spoken, quote: (text: string) => string = (text) => text): string {
  const { texts, unclear } = spokenWords(segment);
  return unclear.length === 0
    ? quote(withoutBreaks(segment.text))
    : markUnclear(texts.map(quote), unclear);
}

/** One caption with its speaker. Times are milliseconds. */
interface Cue {
  start: number;
  end: number;
  speaker: string;
  text: string;
}

/**
 * Two lines of 42 characters, which people can read in time (BBC subtitle guidelines: 37 to 42).
 */
const CUE_CHARACTERS = 84;
/** Words may have no duration on the timeline, but people need time to read them. */
const SHORTEST_MS = 1_000;

/**
 * Segments as captions. A long segment becomes several captions, cut between words at the times of
 * its words, or in proportion to the text when a person edited it. Unclear words are marked in each
 * caption.
 */
export function toCues(
  segments: readonly SegmentRecord[],
  names: ReadonlyMap<string, string>,
): Cue[] {
  return segments
    .filter((segment) => segment.text !== "")
    .flatMap((segment) => cut(segment, names));
}

function cut(segment: SegmentRecord, names: ReadonlyMap<string, string>): Cue[] {
  const speaker = speakerOf(segment, names);
  const cues: Cue[] = [];
  let shown: TimedWord[] = [];
  for (const word of timedWords(segment)) {
    const cue = cues.at(-1);
    const text = markedWords([...shown, word]);
    const end = word.timesClamped ? word.end + SHORTEST_MS : word.end;
    if (cue === undefined || text.length > CUE_CHARACTERS) {
      shown = [word];
      cues.push({ start: word.start, end, speaker, text: markedWords(shown) });
    } else {
      shown.push(word);
      cue.text = text;
      cue.end = end;
    }
  }
  return cues;
}

interface TimedWord {
  text: string;
  start: number;
  end: number;
  unclear?: boolean | undefined;
  timesClamped?: boolean | undefined;
}

function markedWords(words: readonly TimedWord[]): string {
  const texts = words.map(({ text }) => text);
  return markUnclear(texts, unclearPlaces(words));
}

function timedWords(segment: SegmentRecord): TimedWord[] {
  const texts = withoutBreaks(segment.text)
    .split(/\s+/)
    .filter((text) => text !== "");
  if (texts.length === segment.words.length) {
    return segment.words.map(({ start, end, ...word }) => ({
      ...word,
      start: toMilliseconds(start),
      end: toMilliseconds(end),
    }));
  }
  const length = texts.reduce((sum, text) => sum + text.length + 1, 0);
  const per = (segment.end - segment.start) / Math.max(1, length);
  let at = segment.start;
  return texts.map((text) => {
    const start = at;
    at += (text.length + 1) * per;
    return { text, start: toMilliseconds(start), end: toMilliseconds(at) };
  });
}

function clock(ms: number, mark: "," | "."): string {
  const pad = (value: number, width = 2): string => String(value).padStart(width, "0");
  const seconds = Math.floor(ms / 1_000);
  const hours = Math.floor(seconds / 3_600);
  const minutes = Math.floor(seconds / 60) % 60;
  return `${pad(hours)}:${pad(minutes)}:${pad(seconds % 60)}${mark}${pad(ms % 1_000, 3)}`;
}

/**
 * SubRip: numbered captions with the speaker in front. The arrow of its time lines does not stand
 * in names and words, because many readers take any line that has one for such a line.
 */
export function toSrt(cues: readonly Cue[]): string {
  const quote = (text: string): string => text.replaceAll("-->", "->");
  return cues
    .map(
      ({ start, end, speaker, text }, index) =>
        `${index + 1}\n${clock(start, ",")} --> ${clock(end, ",")}\n${quote(`${speaker}: ${text}`)}\n`,
    )
    .join("\n");
}

/** WebVTT with voice spans (https://www.w3.org/TR/webvtt1/#webvtt-cue-voice-span). */
export function toVtt(cues: readonly Cue[]): string {
  const escapeText = (text: string): string =>
    text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  const blocks = cues.map(
    ({ start, end, speaker, text }) =>
      `${clock(start, ".")} --> ${clock(end, ".")}\n<v ${escapeText(speaker)}>${escapeText(text)}</v>\n`,
  );
  return ["WEBVTT\n", ...blocks].join("\n");
}

/** Escapes characters that Markdown would read as formatting. */
function escapeText(text: string): string {
  return text.replace(/([\\`*_{}[\]<>#|])/g, "\\$1");
}

/**
 * A transcript as Markdown: a heading, then a paragraph for each run of one speaker. Its marks
 * are explained under the heading; in Markdown they are plain text.
 */
export function toMarkdown(
  title: string,
  segments: readonly SegmentRecord[],
  names: ReadonlyMap<string, string>,
): string {
  const blocks: { speaker: string; texts: string[] }[] = [];
  for (const segment of segments) {
    if (segment.text === "") continue;
    const speaker = speakerOf(segment, names);
    const text = markedText(segment, escapeText);
    const last = blocks.at(-1);
    if (last?.speaker === speaker) last.texts.push(text);
    else blocks.push({ speaker, texts: [text] });
  }
  const heading = escapeText(inOneLine(title)) || "Transcript";
  const legend = legends(segments).map((line) => `*${line}*\n`);
  const paragraphs = blocks.map(
    ({ speaker, texts }) => `**${escapeText(speaker)}:** ${texts.join(" ")}\n`,
  );
  return [`# ${heading}\n`, ...legend, ...paragraphs].join("\n");
}

/**
 * A transcript as plain text: a line `[00:12] S1: words` for each segment, with the display name in
 * place of a claimed label. Its marks are explained at the end.
 */
export function transcriptText(
  segments: readonly SegmentRecord[],
  names: ReadonlyMap<string, string>,
): string {
  const lines = segments
    .filter((segment) => segment.text !== "")
    .map((segment) => {
      const speaker = speakerOf(segment, names);
      return `[${clockTime(segment.start / SESSION_RATE)}] ${speaker}: ${markedText(segment)}\n`;
    });
  const marks = legends(segments);
  if (marks.length > 0) lines.push(`\n${marks.join("\n")}\n`);
  return lines.join("");
}
