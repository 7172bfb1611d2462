/**
 * Measures who-speaks-when: `node test/eval/diarisation.ts [--out DIR] [--short]`. Prints a table
 * and, with --out, writes diarisation.json. Conversations are made on the spot by Debian's `flite`;
 * recordings come from the folder VOICE_EVAL_DATA (default ../shared/data beside the project) with
 * ami/*.wav and ami/reference.rttm. What is not there is left out and named. Always ends with 0.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { runDiarisation } from "./diarisation-run.ts";
import { type SpokenTurn, scoreDiarisation } from "./diarisation-score.ts";
import { type Conversation, makeConversation } from "./made-conversation.ts";
import { readRecording } from "./read-recording.ts";
import { textTable } from "./text-table.ts";

const PROJECT = resolve(import.meta.dirname, "../..");
const VOICES = [
  ["slt", "rms"],
  ["awb", "kal16"],
  ["rms", "kal16"],
  ["slt", "awb", "rms"],
  ["rms", "awb", "kal16"],
  ["slt", "rms", "awb", "kal16"],
];
/** Clips with less scored speech say nothing. */
const LEAST_SECONDS = 9;

const { values: options } = parseArgs({
  options: { out: { type: "string" }, short: { type: "boolean", default: false } },
});

interface Row {
  set: string;
  name: string;
  scored: number;
  first: number;
  revised: number;
  final: number;
  missed: number;
  falseAlarm: number;
  confusion: number;
  /** Error rate had everything been called one speaker, and with all labels right. */
  oneSpeaker: number;
  speakers: number;
  found: number;
  segments: number;
  changedLive: number;
  changedFinal: number;
  onlineFactor: number;
  finalFactor: number;
  checkpointBytes: number;
}

const rows: Row[] = [];
const leftOut: string[] = [];
for await (const { set, conversation } of conversations()) {
  rows.push(await measure(set, conversation));
}
console.log(report());
if (options.out) {
  mkdirSync(options.out, { recursive: true });
  writeFileSync(
    join(options.out, "diarisation.json"),
    `${JSON.stringify({ rows, leftOut }, null, 2)}\n`,
  );
}

async function* conversations(): AsyncGenerator<{ set: string; conversation: Conversation }> {
  try {
    for (const [i, voices] of VOICES.entries()) {
      for (const seed of options.short ? [1] : [1, 2]) {
        const turns = 16 + 6 * (voices.length - 2);
        const conversation = await makeConversation(voices, turns, 10 * i + seed);
        yield { set: "made", conversation };
      }
    }
    for (const voice of options.short ? [] : ["slt", "rms", "awb", "kal16"]) {
      yield { set: "one voice, 10 min", conversation: await makeConversation([voice], 130, 5) };
    }
  } catch (error) {
    leftOut.push(`made conversations: ${error instanceof Error ? error.message : String(error)}`);
  }
  for (const conversation of clips()) yield { set: "ami", conversation };
}

function clips(): Conversation[] {
  const folder = resolve(PROJECT, process.env.VOICE_EVAL_DATA ?? "../shared/data", "ami");
  const file = join(folder, "reference.rttm");
  if (!existsSync(file)) {
    leftOut.push("AMI clips (no ami/reference.rttm in VOICE_EVAL_DATA)");
    return [];
  }
  const byClip = new Map<string, SpokenTurn[]>();
  for (const line of readFileSync(file, "utf8").split("\n")) {
    const [kind, clip, , start, length, , , speaker] = line.split(/\s+/);
    if (kind !== "SPEAKER" || !clip || !speaker) continue;
    const turn = { start: Number(start), end: Number(start) + Number(length), speaker };
    byClip.set(clip, [...(byClip.get(clip) ?? []), turn]);
  }
  return [...byClip]
    .filter(([name]) => name !== "trn07")
    .filter(([, reference]) => scoreDiarisation(reference, []).scored > LEAST_SECONDS)
    .map(([name, reference]) => {
      const pcm = readRecording(readFileSync(join(folder, `${name}.wav`)));
      return { name, pcm, reference };
    });
}

async function measure(set: string, { name, pcm, reference }: Conversation): Promise<Row> {
  const run = await runDiarisation(pcm);
  const score = scoreDiarisation(reference, run.final);
  const one = run.first.map((turn) => ({ ...turn, speaker: "one" }));
  return {
    set,
    name,
    scored: score.scored,
    first: scoreDiarisation(reference, run.first).errorRate,
    revised: scoreDiarisation(reference, run.revised).errorRate,
    final: score.errorRate,
    missed: score.missed,
    falseAlarm: score.falseAlarm,
    confusion: score.confusion,
    oneSpeaker: scoreDiarisation(reference, one).errorRate,
    speakers: new Set(reference.map((turn) => turn.speaker)).size,
    found: new Set(run.final.map((turn) => turn.speaker)).size,
    segments: run.segments,
    changedLive: run.changedLive,
    changedFinal: run.changedFinal,
    onlineFactor: run.onlineFactor,
    finalFactor: run.finalFactor,
    checkpointBytes: run.checkpointBytes,
  };
}

function report(): string {
  const sets = [...new Set(rows.map((row) => row.set))];
  const header = [
    ["recording", "first %", "final %", "miss/false/conf %", "one speaker %"],
    ["speakers", "changed live+final", "real-time factor", "checkpoint kB"],
  ].flat();
  const lines = sets.flatMap((set) => {
    const own = rows.filter((row) => row.set === set);
    return [...own.map((row) => rowLine(row)), summaryLine(set, own)];
  });
  return [
    "Diarisation error rate, collar 0.25 s, overlap counted; utterances cut by WebRTC VAD",
    textTable([header, ...lines]),
    ...leftOut.map((what) => `left out: ${what}`),
  ].join("\n");
}

function rowLine(row: Row): string[] {
  return [
    row.name,
    percent(row.first),
    percent(row.final),
    [row.missed, row.falseAlarm, row.confusion].map((s) => percent(s / row.scored)).join("/"),
    percent(row.oneSpeaker),
    `${row.found} of ${row.speakers}`,
    `${row.changedLive}+${row.changedFinal} of ${row.segments}`,
    `${row.onlineFactor.toFixed(4)}, ${row.finalFactor.toFixed(4)}`,
    (row.checkpointBytes / 1024).toFixed(0),
  ];
}

/** One line for a set: error rates weighted by scored time, factors and speakers by recording. */
function summaryLine(set: string, own: readonly Row[]): string[] {
  const sum = (of: (row: Row) => number) => own.reduce((total, row) => total + of(row), 0);
  const scored = sum((row) => row.scored);
  const weighted = (of: (row: Row) => number) => percent(sum((r) => of(r) * r.scored) / scored);
  const segments = sum((row) => row.segments);
  const parts = [(r: Row) => r.missed, (r: Row) => r.falseAlarm, (r: Row) => r.confusion];
  return [
    `= ${set} (${own.length})`,
    weighted((row) => row.first),
    weighted((row) => row.final),
    parts.map((of) => percent(sum(of) / scored)).join("/"),
    weighted((row) => row.oneSpeaker),
    `right in ${own.filter((row) => row.found === row.speakers).length} of ${own.length}`,
    `${percent(sum((r) => r.changedLive) / segments)}+${percent(sum((r) => r.changedFinal) / segments)} %`,
    `${(sum((r) => r.onlineFactor) / own.length).toFixed(4)}, ${(sum((r) => r.finalFactor) / own.length).toFixed(4)}`,
    (sum((row) => row.checkpointBytes) / own.length / 1024).toFixed(0),
  ];
}

function percent(share: number): string {
  return (100 * share).toFixed(1);
}
