// Plain questions: `npm run eval:questions -- --file PATH [--show]`. Never fails a build.
import { existsSync, readFileSync } from "node:fs";
import { basename, join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import {
  type Answer,
  type Conversation,
  RetrieveRequest,
  RetrieveResponse,
} from "../../src/wire/gen/voice/v1/retrieval.ts";
import { retrieveTask } from "../../workers/text/retrieval/retrieve-task.ts";
import { recordFigures } from "../support/recorded-figures.ts";
import { faultsOf, type PlainQuestion } from "./judged-answer.ts";
import { readMeetings } from "./qmsum.ts";
import { textTable } from "./text-table.ts";

const PROJECT = resolve(import.meta.dirname, "../..");
const DEMO = join(PROJECT, "deploy/demo/conversation.json");

interface Demo {
  turns: { speaker: string; start_ms: number; end_ms: number; text: string }[];
}

function demo(): Conversation {
  const { turns } = JSON.parse(readFileSync(DEMO, "utf8")) as Demo;
  const names = [...new Set(turns.map(({ speaker }) => speaker))];
  return {
    sessionId: "demo",
    title: "",
    language: "en",
    startedAtMs: 0,
    voices: names.map((name, at) => ({ label: `S${at + 1}`, name, isAsker: false })),
    passages: turns.map(({ speaker, start_ms, end_ms, text }, turn) => ({
      segmentId: String(turn),
      startMs: start_ms,
      endMs: end_ms,
      label: `S${names.indexOf(speaker) + 1}`,
      text,
      unclear: [],
    })),
  };
}

/** The demo and the meetings of QMSum's parts, by the names that questions call them. */
function conversations(): Map<string, Conversation> {
  const meetings = ["train", "val"].flatMap((split) => readMeetings(split));
  return new Map([
    ["demo", demo()],
    ...meetings.map(({ name, conversation }): [string, Conversation] => [name, conversation]),
  ]);
}

/** The answer by the worker's own task, through its messages. */
function answerOf(query: string, conversation: Conversation): Answer {
  const request = { query, nowMs: Date.UTC(2026, 0, 2), across: false };
  const bytes = RetrieveRequest.encode({ ...request, conversations: [conversation] }).finish();
  for (const part of retrieveTask(bytes)) {
    const message = part && RetrieveResponse.decode(part).message;
    if (message?.$case === "answer") return message.value;
  }
  throw new Error("The task ended without an answer.");
}

/** As the command has it for a file of the project; of others the name alone, as folders differ by machine. */
function toldPath(file: string): string {
  const path = relative(PROJECT, resolve(file));
  return path.startsWith("..") ? basename(file) : path;
}

function report(file: string, known: ReadonlyMap<string, Conversation>, isShown: boolean): void {
  const questions = JSON.parse(readFileSync(file, "utf8")) as PlainQuestion[];
  const byKind = new Map<string, boolean[]>();
  let unusable = 0;
  for (const { meeting, question, kind, expect } of questions) {
    const conversation = known.get(meeting);
    if (conversation === undefined) {
      unusable += 1;
      continue;
    }
    const answer = answerOf(question, conversation);
    const faults = faultsOf(expect, answer, conversation);
    byKind.set(kind, [...(byKind.get(kind) ?? []), faults.length === 0]);
    if (!isShown || faults.length === 0) continue;
    const cited = answer.citations.map(({ segmentId }) => segmentId).join(", ");
    console.log(`✗ ${meeting}, ${kind}: ${question}\n  ${answer.text} [${cited}]`);
    console.log(`  ${faults.join("; ")}`);
  }
  const row = (kind: string, all: readonly boolean[]): string[] => {
    const right = all.filter(Boolean).length;
    const share = all.length === 0 ? "" : `${((100 * right) / all.length).toFixed(0)} %`;
    return [kind, String(right), String(all.length), share];
  };
  const table = textTable([
    [basename(file), "right", "asked", ""],
    ...[...byKind].sort(([a], [b]) => (a < b ? -1 : 1)).map(([kind, all]) => row(kind, all)),
    row("all", [...byKind.values()].flat()),
  ]);
  console.log(table);
  recordFigures(table, `npm run eval:questions -- --file ${toldPath(file)}`);
  if (unusable > 0) console.log(`${unusable} left out: their meeting is not here.`);
}

const { values } = parseArgs({
  options: {
    file: { type: "string", multiple: true, default: [] },
    show: { type: "boolean", default: false },
  },
});
const there = values.file.filter((file) => existsSync(file));
if (there.length === 0) console.log("Name a file by --file PATH; its form is in test/README.md.");
else {
  const known = conversations();
  for (const file of there) report(file, known, values.show);
}
