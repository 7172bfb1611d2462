/**
 * `npm run eval:notes -- [split]`: processor time that the notes of meetings of an hour or more take by rule, and
 * how many items each kind has. With `--show DIR` it writes notes there instead, as Markdown: of the meetings
 * `--only NAME,NAME`, and of recordings (`--recording FILE`, 16 kHz WAV; several are joined), by
 * rule and, where `--model DIR` is given, by a small language model that is fetched into that folder. Never
 * fails a build.
 */
import { parseArgs } from "node:util";
import { NOTE_TYPES } from "../../src/session/status.ts";
import type { TextSegment } from "../../src/wire/gen/voice/v1/text.ts";
import { recordFigures } from "../support/recorded-figures.ts";
import { summariseText } from "../support/summarise-text.ts";
import { type Meeting, readMeetings } from "./qmsum.ts";
import { readJoined, writeNotes } from "./shown-notes.ts";
import { textTable } from "./text-table.ts";

/** At 150 words a minute. */
const WORDS_OF_AN_HOUR = 9_000;
const ROUNDS = 5;

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    show: { type: "string" },
    only: { type: "string", default: "" },
    recording: { type: "string", multiple: true, default: [] },
    model: { type: "string" },
  },
});
const [split = "val"] = positionals;
const meetings = readMeetings(split);
if (options.show !== undefined) await show(options.show);
else if (meetings.length === 0) {
  console.log(`No QMSum meetings of the split ${split} here: notes are not measured.`);
} else measure(meetings.filter((meeting) => wordsOf(meeting) >= WORDS_OF_AN_HOUR));

function segmentsOf({ conversation }: Meeting): TextSegment[] {
  const names = new Map(conversation.voices.map(({ label, name }) => [label, name]));
  return conversation.passages.map(({ segmentId, label, startMs, endMs, text }) => ({
    ...{ id: segmentId, speaker: names.get(label) ?? label, startMs, endMs, text },
    pauses: [],
    unclear: [],
  }));
}

function wordsOf({ conversation }: Meeting): number {
  return conversation.passages.reduce((sum, { text }) => sum + text.split(" ").length, 0);
}

function measure(long: readonly Meeting[]): void {
  const rows = long.map((meeting) => {
    const segments = segmentsOf(meeting);
    const times: number[] = [];
    let counts: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const before = process.cpuUsage();
      counts = NOTE_TYPES.map((type) => summariseText(type, segments).items.length);
      const { user, system } = process.cpuUsage(before);
      times.push((user + system) / 1_000);
    }
    const [first = 0] = times;
    const median = times.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0;
    return { words: wordsOf(meeting), name: meeting.name, first, median, counts };
  });
  const perHour = ({ median, words }: { median: number; words: number }) =>
    (median * WORDS_OF_AN_HOUR) / words;
  const worst = Math.max(...rows.map(perHour));
  const table = textTable([
    ["meeting", "words", "first ms", "median ms", ...NOTE_TYPES],
    ...rows.map(({ name, words, first, median, counts }) => [
      ...[name, String(words), first.toFixed(0), median.toFixed(0)],
      ...counts.map(String),
    ]),
    ["worst, for 9,000 words", "", "", worst.toFixed(0)],
  ]);
  console.log(table);
  recordFigures(table);
}

async function show(folder: string): Promise<void> {
  const wanted = options.only.split(",");
  const talks = meetings
    .filter(({ name }) => wanted.includes(name))
    .map((meeting) => ({ name: meeting.name, segments: segmentsOf(meeting) }));
  if (options.recording.length > 0) {
    talks.push({ name: "recording", segments: await readJoined(options.recording) });
  }
  if (talks.length === 0) {
    console.log(`Nothing to show: --only is one of ${meetings.map(({ name }) => name).join(" ")}`);
  }
  await writeNotes(folder, talks, options.model);
}
