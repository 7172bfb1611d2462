// Plain questions: `node deploy/run.mjs test/eval/questions.ts FILE…`. Never fails a build.
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import {
  type Answer,
  type Conversation,
  RetrieveRequest,
  RetrieveResponse,
} from "../../src/wire/gen/voice/v1/retrieval.ts";
import { retrieveTask } from "../../workers/text/retrieval/retrieve-task.ts";
import { judgeAnswer, type PlainQuestion, type Verdict } from "./judged-answer.ts";
import { readMeetings } from "./qmsum.ts";
import { textTable } from "./text-table.ts";

const DATA = process.env.VOICE_EVAL_DATA ?? resolve(import.meta.dirname, "../../../shared/data");
const DEMO = join(import.meta.dirname, "../fixtures/conversation/words.json");
const MS_PER_WORD = 400;

interface Demo {
  turns: { speaker: string; words: [string, number, number][] }[];
}

type Line = [speaker: string, startMs: number, endMs: number, text: string];

function conversationOf(sessionId: string, lines: readonly Line[]): Conversation {
  const names = [...new Set(lines.map(([name]) => name))];
  return {
    sessionId,
    title: "",
    language: "en",
    startedAtMs: 0,
    voices: names.map((name, at) => ({ label: `S${at + 1}`, name, isAsker: false })),
    passages: lines.map(([name, startMs, endMs, text], at) => ({
      segmentId: String(at),
      startMs,
      endMs,
      label: `S${names.indexOf(name) + 1}`,
      text,
      unclear: [],
    })),
  };
}

function demo(): Conversation {
  const { turns } = JSON.parse(readFileSync(DEMO, "utf8")) as Demo;
  const lines = turns.map(({ speaker, words }): Line => {
    const text = words.map(([word]) => word).join(" ");
    return [speaker, words[0]?.[1] ?? 0, words.at(-1)?.[2] ?? 0, text];
  });
  return conversationOf("demo", lines);
}

/** Sentences of LibriVox, each a turn. */
function sentencesOf(path: string): Conversation | undefined {
  if (!existsSync(path)) return undefined;
  let at = 0;
  const lines = readFileSync(path, "utf8")
    .trim()
    .split("\n")
    .map((line): Line => {
      const text = line.trim().replace(/^\S+\s+/, "");
      const startMs = at;
      at += text.split(" ").length * MS_PER_WORD;
      return ["", startMs, at, text];
    });
  return conversationOf("librivox", lines);
}

const known = new Map<string, Conversation | undefined>([["demo", demo()]]);

/** The conversation that a question names: `demo`, `qmsum:SPLIT/FILE` or `librivox:FILE`. */
function spokenIn(source: string): Conversation | undefined {
  const [kind = "", path = ""] = source.split(":");
  if (!known.has(source)) known.set(source, read(kind, path));
  return known.get(source);
}

function read(kind: string, path: string): Conversation | undefined {
  if (kind === "librivox") return sentencesOf(join(DATA, "librivox", path));
  if (kind !== "qmsum") return undefined;
  const [split = "", file = ""] = path.split("/");
  const name = file.replace(".json", "");
  return readMeetings(split, join(DATA, "qmsum")).find((meeting) => meeting.name === name)
    ?.conversation;
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

function report(file: string, isDetailed: boolean): void {
  const questions = JSON.parse(readFileSync(file, "utf8")) as PlainQuestion[];
  const byKind = new Map<string, Verdict[]>();
  let unusable = 0;
  for (const each of questions) {
    const conversation = spokenIn(each.source);
    if (conversation === undefined || !each.question) {
      unusable += 1;
      continue;
    }
    const answer = answerOf(each.question, conversation);
    const verdict = judgeAnswer(each, answer);
    byKind.set(each.kind, [...(byKind.get(each.kind) ?? []), verdict]);
    if (!isDetailed || verdict.isRight) continue;
    console.log(`✗ ${each.id} ${each.kind}: ${each.question}\n  ${answer.text}\n  ${verdict.why}`);
  }
  const row = (kind: string, verdicts: readonly Verdict[]): string[] => {
    const right = verdicts.filter(({ isRight }) => isRight).length;
    const first = verdicts.filter(({ isFirst }) => isFirst).length;
    return [kind, String(verdicts.length), String(right), String(first)];
  };
  console.log(
    textTable([
      [file.split("/").at(-1) ?? "", "asked", "right", "right in the first sentence"],
      ...[...byKind].sort(([a], [b]) => (a < b ? -1 : 1)).map(([kind, all]) => row(kind, all)),
      row("all", [...byKind.values()].flat()),
    ]),
  );
  if (unusable > 0) console.log(`${unusable} left out: their conversation is not here.`);
}

const files = process.argv.slice(2).filter((argument) => !argument.startsWith("--"));
const named = files.length > 0 ? files : (process.env.QUESTIONS_FILES ?? "").split(":");
const there = named.filter((file) => file !== "" && existsSync(file));
if (there.length === 0) console.log("Name a file of questions; its form is in test/README.md.");
for (const file of there) report(file, process.argv.includes("--wrong"));
