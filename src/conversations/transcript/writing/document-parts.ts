import { clockTime } from "../../../wire/clock-time.ts";
import { wordedText } from "../../../wire/language-model.ts";
import { inOneLine } from "../../../wire/one-line.ts";
import { escapeText } from "./escape-markdown.ts";
import type { SegmentRecord } from "./segment-record.ts";

/** A section of a session's notes as documents for people have it. */
export interface WrittenNotes {
  title: string;
  /** A type of summary, or `custom`. */
  kind: string;
  /** The language model that worded them; absent: they are by rule, in the words that were said. */
  model?: string;
  items: readonly WrittenNote[];
}

interface WrittenNote {
  text: string;
  /** On the session's timeline. */
  startMs: number;
  /** Who said it, where it is quoted. */
  speaker?: string;
  section?: string;
  owner?: string;
  due?: string;
  done?: boolean;
}

/** What stands above the words in documents for people. */
export interface DocumentHead {
  /** Unix milliseconds. */
  startedAt: number;
  /** In order; empty where whoever asks may not read them, or there are none. */
  notes: readonly WrittenNotes[];
}

/** Date, length and people in one line: `2026-11-28 13:04 UTC · 42:10 · Anna, Speaker 2`. */
export function factsLine(
  { startedAt }: DocumentHead,
  segments: readonly SegmentRecord[],
  names: ReadonlyMap<string, string>,
  soundEnd: number | undefined,
): string {
  const date = new Date(startedAt).toISOString().slice(0, 16).replace("T", " ");
  const spoken = segments.filter(({ text }) => text !== "");
  const people = [...new Set(spoken.map(({ label }) => inOneLine(names.get(label) ?? label)))];
  const length = soundEnd === undefined ? "" : clockTime(soundEnd / 1_000);
  return [`${date} UTC`, length, people.join(", ")].filter((part) => part !== "").join(" · ");
}

/** A long account of the words, which follow in the document themselves. */
const LEFT_OUT = "detailed";

/** The notes as a part of a Markdown document; "" without any. */
export function notesPart(
  notes: readonly WrittenNotes[],
  names: ReadonlyMap<string, string>,
): string {
  const parts = notes.flatMap(({ title, kind, items, model }) => {
    if (items.length === 0 || kind === LEFT_OUT) return [];
    const nameOf = (label: string) => names.get(label) ?? label;
    const said = (text: string) => (model === undefined ? text : wordedText(text, nameOf));
    const lines = items.map((item) =>
      lineOf({ ...item, text: said(item.text) }, kind, model === undefined, names),
    );
    return [`### ${escapeText(inOneLine(title))}\n\n${lines.join("")}`];
  });
  return parts.length === 0 ? "" : `## Notes\n\n${parts.join("\n")}`;
}

/** Kinds whose items tell who and when themselves. */
const TELLS_WHO = new Set(["action_items", "topics"]);
const TELLS_WHEN = new Set(["topics"]);

function lineOf(
  { text, startMs, speaker = "", owner = "", due = "", done }: WrittenNote,
  kind: string,
  isQuoted: boolean,
  names: ReadonlyMap<string, string>,
): string {
  const isTask = kind === "action_items";
  const box = isTask ? `[${done === true ? "x" : " "}] ` : "";
  const who = [names.get(owner) ?? owner, due].filter((part) => part !== "").join(", ");
  const task = isTask && who !== "" ? ` – ${escapeText(inOneLine(who))}` : "";
  const hasSpeaker = isQuoted && speaker !== "" && !TELLS_WHO.has(kind);
  const said = hasSpeaker ? `${escapeText(inOneLine(names.get(speaker) ?? speaker))}: ` : "";
  const time = TELLS_WHEN.has(kind) ? "" : ` (${clockTime(startMs / 1_000)})`;
  return `- ${box}${said}${escapeText(inOneLine(text))}${task}${time}\n`;
}
