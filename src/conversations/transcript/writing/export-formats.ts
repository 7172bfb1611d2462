import { SESSION_RATE, toMilliseconds } from "../../../base/audio/sample-rate.ts";
import { clockTime } from "../../../wire/clock-time.ts";
import { inOneLine, withoutBreaks } from "../../../wire/one-line.ts";
import { markUnclear, UNCLEAR_LEGEND, unclearIndexes } from "../../../wire/unclear-words.ts";
import { isUnsure, markUnsure, UNSURE_LEGEND } from "../../../wire/unsure-speakers.ts";
import { type Cue, toCues } from "./captions.ts";
import { escapeText } from "./escape-markdown.ts";
import type { SegmentRecord } from "./segment-record.ts";

type Spoken = Pick<SegmentRecord, "text" | "words">;

/**
 * The words of a segment's text, with the indexes of the unclear ones. The text of an edited
 * segment may have other words than were recognised; then none is marked.
 */
function spokenWords({ text, words }: Spoken): { texts: string[]; unclear: number[] } {
  const texts = withoutBreaks(text)
    .split(/\s+/)
    .filter((word) => word !== "");
  return { texts, unclear: texts.length === words.length ? unclearIndexes(words) : [] };
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

/** SubRip's captions name the speaker in front where another one begins to speak. */
export function srtCues(
  segments: readonly SegmentRecord[],
  names: ReadonlyMap<string, string>,
  soundEnd?: number,
): Cue[] {
  return toCues(
    segments,
    (segment) => speakerOf(segment, names),
    (speaker) => inFront(speaker).length,
    soundEnd,
  );
}

/**
 * WebVTT's captions have their speaker in a voice span, which takes no room. Whoever speaks within
 * another one's segment has a cue without words: they are in that segment's.
 */
export function vttCues(
  segments: readonly SegmentRecord[],
  names: ReadonlyMap<string, string>,
  soundEnd?: number,
): Cue[] {
  const spoken = toCues(
    segments,
    (segment) => speakerOf(segment, names),
    () => 0,
    soundEnd,
  );
  const overlapping = segments.flatMap(({ overlaps = [] }) =>
    overlaps.map(({ label, start, end }): Cue => {
      const times = { start: toMilliseconds(start), end: toMilliseconds(end) };
      return { ...times, speaker: speakerOf({ label }, names), lines: [], isTurn: false };
    }),
  );
  return [...spoken, ...overlapping].sort((one, other) => one.start - other.start);
}

function inFront(speaker: string): string {
  return `${speaker}: `;
}

function clock(ms: number, mark: "," | "."): string {
  const pad = (value: number, width = 2): string => String(value).padStart(width, "0");
  const seconds = Math.floor(ms / 1_000);
  const hours = Math.floor(seconds / 3_600);
  const minutes = Math.floor(seconds / 60) % 60;
  return `${pad(hours)}:${pad(minutes)}:${pad(seconds % 60)}${mark}${pad(ms % 1_000, 3)}`;
}

/**
 * SubRip: numbered captions. The arrow of its time lines does not stand in names and words, because
 * many readers take any line that has one for such a line.
 */
export function toSrt(cues: readonly Cue[]): string {
  const quote = (text: string): string => text.replaceAll("-->", "->");
  return cues
    .map(({ start, end, speaker, lines, isTurn }, index) => {
      const text = `${isTurn ? inFront(speaker) : ""}${lines.join("\n")}`;
      return `${index + 1}\n${clock(start, ",")} --> ${clock(end, ",")}\n${quote(text)}\n`;
    })
    .join("\n");
}

/** WebVTT with voice spans (https://www.w3.org/TR/webvtt1/#webvtt-cue-voice-span). */
export function toVtt(cues: readonly Cue[]): string {
  const blocks = cues.map(
    ({ start, end, speaker, lines }) =>
      `${clock(start, ".")} --> ${clock(end, ".")}\n<v ${escapeCue(speaker)}>${escapeCue(lines.join("\n"))}</v>\n`,
  );
  return ["WEBVTT\n", ...blocks].join("\n");
}

/** Captions of what was said alone, for programs that expect neither speakers nor marks. */
export function plainCues(segments: readonly SegmentRecord[], soundEnd?: number): Cue[] {
  const unmarked = segments.map((segment) => {
    return { ...segment, words: segment.words.map(({ unclear: _unclear, ...word }) => word) };
  });
  return toCues(
    unmarked,
    () => "",
    () => 0,
    soundEnd,
  );
}

/** SubRip without speakers. */
export function toPlainSrt(cues: readonly Cue[]): string {
  return toSrt(cues.map((cue) => ({ ...cue, isTurn: false })));
}

/** WebVTT without voice spans. */
export function toPlainVtt(cues: readonly Cue[]): string {
  const blocks = cues.map(({ start, end, lines }) => {
    return `${clock(start, ".")} --> ${clock(end, ".")}\n${escapeCue(lines.join("\n"))}\n`;
  });
  return ["WEBVTT\n", ...blocks].join("\n");
}

/** Escapes characters that WebVTT would read as markup. */
function escapeCue(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

interface MarkdownHead {
  title: string;
  /** A line below the title. */
  facts?: string;
  /** A part before the words. */
  notes?: string;
}

/**
 * A transcript as Markdown: a heading, then a paragraph with its time for each run of one speaker. Its
 * marks are explained under the heading; in Markdown they are plain text.
 */
export function toMarkdown(
  { title, facts = "", notes = "" }: MarkdownHead,
  segments: readonly SegmentRecord[],
  names: ReadonlyMap<string, string>,
): string {
  const blocks: { speaker: string; at: string; texts: string[] }[] = [];
  for (const segment of segments) {
    if (segment.text === "") continue;
    const speaker = speakerOf(segment, names);
    const text = markedText(segment, escapeText);
    const last = blocks.at(-1);
    if (last?.speaker === speaker) last.texts.push(text);
    else blocks.push({ speaker, at: clockTime(segment.start / SESSION_RATE), texts: [text] });
  }
  const heading = escapeText(inOneLine(title)) || "Transcript";
  const legend = legends(segments).map((line) => `*${line}*\n`);
  const paragraphs = blocks.map(
    ({ speaker, at, texts }) => `**${escapeText(speaker)}** (${at}): ${texts.join(" ")}\n`,
  );
  const head = facts === "" ? [] : [`${escapeText(facts)}\n`];
  const parts = notes === "" ? [] : [notes, "## Transcript\n"];
  return [`# ${heading}\n`, ...head, ...parts, ...legend, ...paragraphs].join("\n");
}

/** The moments that people marked, as the last part of a Markdown document; nothing without any. */
export function markedMoments(
  marks: readonly { atMs: number; text: string; authorName?: string | undefined }[],
): string {
  if (marks.length === 0) return "";
  const lines = marks.map(({ atMs, text, authorName = "" }) => {
    const parts = [`**${clockTime(atMs / 1_000)}**`, escapeText(inOneLine(text))];
    if (authorName !== "") parts.push(`(${escapeText(inOneLine(authorName))})`);
    return `- ${parts.filter((part) => part !== "").join(" ")}\n`;
  });
  return `\n## Marks\n\n${lines.join("")}`;
}

/** The lines above the words of a plain text: the title and `facts`. */
export function textHead(title: string, facts: string): string {
  return `${inOneLine(title) || "Transcript"}\n${facts}\n\n`;
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
