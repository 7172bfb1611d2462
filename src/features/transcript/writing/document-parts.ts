import { clockTime } from "../../../wire/clock-time.ts";
import { wordedText } from "../../../wire/language-model.ts";
import { inOneLine } from "../../../wire/one-line.ts";
import { escapeText } from "./escape-markdown.ts";
import type { SegmentRecord } from "./segment-record.ts";

/** A session's notes as documents for people have them. */
export interface WrittenNotes {
  summaryType: string;
  /** The language model that worded them; absent: they are by rule, in the words that were said. */
  model?: string;
  items: readonly WrittenNote[];
}

interface WrittenNote {
  text: string;
  /** On the session's timeline. */
  startMs: number;
  section?: string;
  owner?: string;
  due?: string;
  done?: boolean;
}

/** What stands above the words in documents for people. */
export interface DocumentHead {
  /** Unix milliseconds. */
  startedAt: number;
  /** Empty where whoever asks may not read them, or there are none. */
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

/** Those of which a document has a part, in its order. */
const PARTS = [
  ["brief", "In brief"],
  ["action_items", "Action items"],
  ["decisions", "Decisions"],
  ["open_questions", "Open questions"],
  ["topics", "Topics"],
] as const;

/** The notes as a part of a Markdown document; "" without any. */
export function notesPart(
  notes: readonly WrittenNotes[],
  names: ReadonlyMap<string, string>,
): string {
  const parts = PARTS.flatMap(([type, title]) => {
    const { items = [], model } = notes.find(({ summaryType }) => summaryType === type) ?? {};
    if (items.length === 0) return [];
    const nameOf = (label: string) => names.get(label) ?? label;
    const said = (text: string) => (model === undefined ? text : wordedText(text, nameOf));
    return [
      `### ${title}\n\n${items.map((item) => lineOf({ ...item, text: said(item.text) }, type, names)).join("")}`,
    ];
  });
  return parts.length === 0 ? "" : `## Notes\n\n${parts.join("\n")}`;
}

function lineOf(
  { text, startMs, owner = "", due = "", done }: WrittenNote,
  type: string,
  names: ReadonlyMap<string, string>,
): string {
  const box = type === "action_items" ? `[${done === true ? "x" : " "}] ` : "";
  const who = [names.get(owner) ?? owner, due].filter((part) => part !== "").join(", ");
  const task = type === "action_items" && who !== "" ? ` – ${escapeText(inOneLine(who))}` : "";
  return `- ${box}${escapeText(inOneLine(text))}${task} (${clockTime(startMs / 1_000)})\n`;
}
