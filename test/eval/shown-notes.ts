import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SAMPLES_PER_MS } from "../../src/base/audio/sample-rate.ts";
import { arrangeNotes } from "../../src/conversations/summaries/store.ts";
import { builtIn } from "../../src/conversations/summaries/templates.ts";
import { notesPart } from "../../src/conversations/transcript/writing/document-parts.ts";
import { NOTE_TYPES, type SummaryType } from "../../src/session/status.ts";
import type { Summary, TextSegment } from "../../src/wire/gen/voice/v1/text.ts";
import { unclearIndexes } from "../../src/wire/unclear-words.ts";
import { NotesBench } from "../support/model-notes.ts";
import { startMoonshine } from "../support/moonshine-engine.ts";
import { SmallModelServer } from "../support/small-model.ts";
import { summariseText } from "../support/summarise-text.ts";
import { readLive, type TimedMessage } from "./live-reading.ts";
import { readRecording } from "./read-recording.ts";

/** What was said somewhere. */
interface Talk {
  name: string;
  segments: readonly TextSegment[];
}

const MINUTE_MS = 60_000;
const PIECE_MS = 2_000;
const PAUSE_MS = 1_000;

/** Writes the notes of each talk into the folder, as the Markdown export has them, and what that leaves out. */
export async function writeNotes(
  folder: string,
  talks: readonly Talk[],
  modelFolder: string | undefined,
): Promise<void> {
  mkdirSync(folder, { recursive: true });
  for (const { name, segments } of talks) {
    const made = NOTE_TYPES.map((type) => ({ type, ...summariseText(type, segments) }));
    writeFileSync(join(folder, `${name}.rule.md`), documentOf(name, segments, made));
  }
  if (modelFolder === undefined) return;
  mkdirSync(modelFolder, { recursive: true });
  const server = await SmallModelServer.start(modelFolder);
  try {
    server.keepsToForm = true;
    const settings = { requestTokens: 3_000, timeoutMs: 20 * MINUTE_MS, concurrency: 1 };
    const bench = new NotesBench(server, settings);
    await bench.model.probe();
    for (const { name, segments } of talks) {
      const made: Made[] = [];
      for (const type of NOTE_TYPES) {
        made.push({ type, ...(await bench.summarise(type, segments)) });
      }
      writeFileSync(join(folder, `${name}.model.md`), documentOf(name, segments, made));
    }
  } finally {
    await server.stop();
  }
}

type Made = Summary & { type: SummaryType };

function documentOf(name: string, segments: readonly TextSegment[], made: readonly Made[]): string {
  const starts = new Map(segments.map(({ id, startMs }) => [id, startMs]));
  const summaries = made.map(({ type, items, model }) => ({
    summaryType: type,
    ...(model?.outcome === "worded" && { model: model.name }),
    items: items.map((item) => ({ ...item, startMs: starts.get(item.segmentIds[0] ?? "") ?? 0 })),
  }));
  const notes = arrangeNotes(builtIn("general"), summaries);
  const empty = made.filter(({ items }) => items.length === 0).map(({ text }) => `- ${text}`);
  const detail = made.find(({ type }) => type === "detailed")?.text ?? "";
  const outcomes = made.flatMap(({ type, model, items }) =>
    model ? [`${type}: ${model.outcome}, ${items.length} shown, ${model.dropped} dropped`] : [],
  );
  return [
    `# ${name}`,
    notesPart(notes, new Map()),
    empty.length === 0 ? "" : `### Empty\n\n${empty.join("\n")}`,
    `### In detail\n\n${detail}`,
    outcomes.join("\n"),
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

/** What the service's own engine hears in recordings, one after the other. */
export async function readJoined(files: readonly string[]): Promise<TextSegment[]> {
  const pause = new Int16Array(PAUSE_MS * SAMPLES_PER_MS);
  const parts = files.flatMap((file) => [readRecording(readFileSync(file)), pause]);
  const pcm = new Int16Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    pcm.set(part, at);
    at += part.length;
  }
  const engine = await startMoonshine(1);
  try {
    const { messages } = await readLive({ pcm, pieceMs: PIECE_MS, engine });
    return segmentsOf(messages.map(({ message }) => message));
  } finally {
    engine.close();
  }
}

const NO_CHANGES = { segments: [], merges: [] };

/** The finals, each with the speaker whom it has in the end. */
function segmentsOf(messages: readonly TimedMessage["message"][]): TextSegment[] {
  const utterances = messages.flatMap((message) =>
    message.$case === "utterance" ? [message.value] : [],
  );
  const clusters = new Map<number, number>();
  const changes = messages.flatMap((message) =>
    message.$case === "speakers"
      ? [message.value]
      : message.$case === "utterance"
        ? [{ segments: message.value.segments, merges: [] }, message.value.speakers ?? NO_CHANGES]
        : [],
  );
  for (const { segments, merges } of changes) {
    for (const { start, cluster } of segments) clusters.set(start, cluster);
    for (const { from, into } of merges) {
      for (const [start, cluster] of clusters) if (cluster === from) clusters.set(start, into);
    }
  }
  return utterances.flatMap(({ segments }) =>
    segments.map(({ start, end, words }) => ({
      id: String(start),
      speaker: `Speaker ${(clusters.get(start) ?? 0) + 1}`,
      startMs: Math.round(start / SAMPLES_PER_MS),
      endMs: Math.round(end / SAMPLES_PER_MS),
      text: words.map(({ text }) => text).join(" "),
      pauses: [],
      unclear: unclearIndexes(words),
    })),
  );
}
