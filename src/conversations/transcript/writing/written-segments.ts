import { SESSION_RATE } from "../../../base/audio/sample-rate.ts";
import { toDigits } from "../../../language/digits.ts";
import { restoreText } from "../../../language/restore-text.ts";
import type { SegmentRecord } from "./segment-record.ts";

/** How recognised words are written. */
export interface Writing {
  /** `readable`: with capitals and sentence marks, which are restored; `raw`: as recognised. */
  style: "readable" | "raw";
  numbers: "words" | "digits";
  /** Of the transcript; capitals, marks and digits are known of English alone. */
  language: string;
  /** Words and phrases as they are written: of the vocabulary, and the names of speakers. */
  names: readonly string[];
}

type Word = SegmentRecord["words"][number];

/**
 * The segments with their words written for people, in their places and with their times; a number
 * in digits is one word. What a person wrote stays as it is, as does what was redacted.
 */
export function writeSegments(
  segments: readonly SegmentRecord[],
  writing: Writing,
): SegmentRecord[] {
  if (isWrittenAlready(writing)) return [...segments];
  const heard = segments.filter(isHeard);
  const written = new Map(heard.map((each) => [each, each.words.map(({ text }) => text)]));
  // An engine that writes capitals and marks itself has done so; one that does not knows neither.
  const plain =
    writing.style === "raw" ? [] : heard.filter(({ text }) => !/[\p{Lu}.?!]/u.test(text));
  const restored = restoreText(plain.map(toTurn), writing.names);
  for (const [place, segment] of plain.entries()) written.set(segment, restored[place] ?? []);
  return segments.map((segment) => {
    const texts = written.get(segment);
    return texts === undefined ? segment : rewrite(segment, texts, writing.numbers === "digits");
  });
}

/** True where nothing is to be done with what was recognised. */
function isWrittenAlready({ language, style, numbers }: Writing): boolean {
  const isEnglish = language.split("-")[0]?.toLowerCase() === "en";
  return !isEnglish || (style === "raw" && numbers === "words");
}

/** False where a person wrote the text: then its words have the segment's confidence. */
function isHeard({ text, words, revision, confidence, redacted }: SegmentRecord): boolean {
  if (redacted === true || words.map((word) => word.text).join(" ") !== text) return false;
  return revision <= 1 || words.some((word) => word.confidence !== confidence);
}

function toTurn({ label, words }: SegmentRecord) {
  return {
    speaker: label,
    words: words.map(({ text, start, end }) => ({
      text,
      start: start / SESSION_RATE,
      end: end / SESSION_RATE,
    })),
  };
}

function rewrite(
  segment: SegmentRecord,
  texts: readonly string[],
  inDigits: boolean,
): SegmentRecord {
  const numbers = inDigits ? toDigits(segment.words.map(({ text }) => plainWord(text))) : undefined;
  const words: Word[] = [];
  for (const [place, word] of segment.words.entries()) {
    const text = texts[place] ?? word.text;
    const number = numbers?.[place];
    const last = words.at(-1);
    if (number === "" && last !== undefined) words[words.length - 1] = join(last, word, text);
    else words.push({ ...word, text: withNumber(text, plainWord(word.text), number) });
  }
  return { ...segment, words, text: words.map(({ text }) => text).join(" ") };
}

/** Without the capitals and marks that an engine may write. */
function plainWord(text: string): string {
  return text.toLowerCase().replace(/[.,?!;:]+$/, "");
}

/** The word in digits, with the marks that were restored behind it. */
function withNumber(text: string, heard: string, number: string | undefined): string {
  if (number === undefined || number === heard) return text;
  return number + (/[.,?!;:]$/.exec(text)?.[0] ?? "");
}

/** A number's first word with the next of its words. */
function join(first: Word, next: Word, text: string): Word {
  const mark = /[.,?!;:]$/.exec(text)?.[0] ?? "";
  const isUnclear = first.unclear === true || next.unclear === true;
  return {
    ...first,
    text: first.text + mark,
    end: next.end,
    confidence: Math.min(first.confidence, next.confidence),
    ...(isUnclear ? { unclear: true } : {}),
  };
}
