import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Conversation } from "../../src/wire/gen/voice/v1/retrieval.ts";

const FOLDER = resolve(import.meta.dirname, "../../../shared/data/qmsum");
const MS_PER_WORD = 400;

export interface MeetingQuery {
  query: string;
  answer: string;
  /** Numbers of the turns that hold the evidence. */
  gold: ReadonlySet<number>;
}

export interface Meeting {
  name: string;
  /** Each turn a passage, its number the id. */
  conversation: Conversation;
  queries: MeetingQuery[];
}

interface Source {
  meeting_transcripts: { speaker: string; content: string }[];
  specific_query_list: { query: string; answer: string; relevant_text_span: [string, string][] }[];
}

/** The meetings of a split, or none where the data is not there. */
export function readMeetings(
  split: string,
  folder = process.env.QMSUM_FOLDER ?? FOLDER,
): Meeting[] {
  const path = join(folder, split);
  if (!existsSync(path)) return [];
  return readdirSync(path)
    .filter((file) => file.endsWith(".json"))
    .sort()
    .map((file) => toMeeting(file, JSON.parse(readFileSync(join(path, file), "utf8")) as Source));
}

/** Text as it would be written: no marks of noises, spelled letters in one word, no blanks before full stops. */
export function cleanText(text: string): string {
  return text
    .replace(/\{[^}]*\}|<[^>]*>/g, " ")
    .replace(/\b(?:[A-Z]_)+(?![A-Z])/g, (letters) => letters.replaceAll("_", ""))
    .replace(/\s+([.,?!;:])/g, "$1")
    .replace(/\s+(['’]\w)/g, "$1")
    .replace(/\s+/g, " ")
    .trim();
}

function toMeeting(file: string, source: Source): Meeting {
  const labels = new Map<string, string>();
  let at = 0;
  const passages = source.meeting_transcripts.map(({ speaker, content }, turn) => {
    const label = labels.get(speaker) ?? `S${labels.size + 1}`;
    labels.set(speaker, label);
    const text = cleanText(content);
    const startMs = at;
    at += Math.max(1, text.split(" ").length) * MS_PER_WORD;
    return { segmentId: String(turn), startMs, endMs: at, label, text, unclear: [] };
  });
  const voices = [...labels].map(([name, label]) => ({ label, name, isAsker: false }));
  return {
    name: file.replace(".json", ""),
    conversation: { sessionId: file, title: "", language: "en", startedAtMs: 0, voices, passages },
    queries: source.specific_query_list.map(({ query, answer, relevant_text_span }) => ({
      query,
      answer: cleanText(answer),
      gold: turnsOf(relevant_text_span),
    })),
  };
}

function turnsOf(spans: readonly [string, string][]): Set<number> {
  const turns = new Set<number>();
  for (const [first, last] of spans) {
    for (let turn = Number(first); turn <= Number(last); turn += 1) turns.add(turn);
  }
  return turns;
}
