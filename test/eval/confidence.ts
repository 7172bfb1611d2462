/**
 * `npm run eval:confidence`: how well the recogniser's confidence tells right words from wrong
 * ones, and what its floor does. Conversations of known words are made with Debian's `flite` and
 * degraded in code; weights and floor are fitted on one half (other voices, texts and seeds) and
 * measured on the other, on read sentences (VOICE_EVAL_DATA/librivox) and, without knowing the
 * words, on meetings (VOICE_EVAL_DATA/ami). Prints tables, writes out/confidence.json, ends with 0.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import type { Word } from "../../src/wire/gen/voice/v1/worker.ts";
import { MOONSHINE } from "../../src/wire/speech-engines.ts";
import { recordFigures } from "../support/recorded-figures.ts";
import { toChunks, toSignal } from "./degraded-audio.ts";
import { degradedConversations, type Script } from "./degraded-conversations.ts";
import { equalError, figuresAt, highestFloor, separation } from "./floor-figures.ts";
import { type JudgedWord, judgeWords, WordReader } from "./judged-words.ts";
import { readRecording } from "./read-recording.ts";
import { loadReadSentences } from "./recordings.ts";
import { calibrationError, reliability } from "./reliability.ts";
import { FITTED_TEXTS, TRIED_TEXTS } from "./spoken-texts.ts";
import { textTable } from "./text-table.ts";

const PROJECT = resolve(import.meta.dirname, "../..");
const HELP = `npm run eval:confidence -- [options]
  --only TEXT[,TEXT]    only conditions whose names contain one of these (the floor needs "clean")
  --out DIR             where confidence.json goes (default: out)
Environment: VOICE_EVAL_DATA, folder with librivox/ and ami/ (default: ../shared/data)`;

/** Of the right words of clear speech no more may lie below the floor. */
const MOST_LOST = 0.05;
const CLEAN = "clean";
const CONFIDENCE_FLOOR: number = MOONSHINE.confidenceFloor;
/** Sets of conditions, of the half that nothing is fitted on, whose reliability is told. */
const GROUPS: Readonly<Record<string, RegExp>> = {
  clear: /^clean$/,
  "a little degraded": / 15 dB$|^mains hum, 10 dB$|^telephone$|^room, 0.2 s$/,
  "much degraded": /^(?!mains hum, 10).*, (10|5|0) dB$|^room, 0.[48] s$/,
  all: /./,
};
const FITTED: Script = {
  voices: ["slt", "awb"],
  background: ["rms", "kal16"],
  texts: FITTED_TEXTS,
  seed: 1,
};
const TRIED: Script = {
  voices: ["rms", "kal16"],
  background: ["slt", "awb"],
  texts: TRIED_TEXTS,
  seed: 2,
};

const { values: options } = parseArgs({
  options: {
    only: { type: "string", default: "" },
    out: { type: "string", default: join(PROJECT, "out") },
    help: { type: "boolean", default: false },
  },
});

type Judged = Word & { isRight: boolean };
type ByCondition = Map<string, Judged[]>;
/** Which number of a word is taken for its confidence. */
type Measure = (word: Judged) => number;

if (options.help) console.log(HELP);
else await evaluate();

async function evaluate(): Promise<void> {
  const reader = await WordReader.start();
  const leftOut: string[] = [];
  const data = resolve(PROJECT, process.env.VOICE_EVAL_DATA ?? "../shared/data");
  try {
    const fitted = await readScript(reader, FITTED, leftOut);
    const tried = await readScript(reader, TRIED, leftOut);
    const sentences = await readSentences(reader, join(data, "librivox"), leftOut);
    const meetings = await readMeetings(reader, join(data, "ami"), leftOut);
    report(fitted, tried, sentences, meetings, leftOut);
  } finally {
    reader.close();
  }
}

async function readScript(
  reader: WordReader,
  script: Script,
  leftOut: string[],
): Promise<ByCondition> {
  const read: ByCondition = new Map();
  try {
    for (const { condition, reference, chunks } of await degradedConversations(script)) {
      if (!options.only.split(",").some((part) => condition.includes(part))) continue;
      process.stderr.write(`${script.voices.join("+")}: ${condition}\n`);
      read.set(condition, judgeWords(reference, await reader.read(chunks())));
    }
  } catch (error) {
    leftOut.push(`made conversations: ${error instanceof Error ? error.message : String(error)}`);
  }
  return read;
}

async function readSentences(
  reader: WordReader,
  folder: string,
  leftOut: string[],
): Promise<Judged[]> {
  const joined = loadReadSentences(folder).at(-1);
  if (joined === undefined) {
    leftOut.push("read sentences (no librivox/transcripts.txt in VOICE_EVAL_DATA)");
    return [];
  }
  const { data } = joined.audio;
  const pcm = Int16Array.from({ length: data.length >> 1 }, (_, at) => data.readInt16LE(2 * at));
  return judgeWords(joined.reference, await reader.read(toChunks(toSignal(pcm))));
}

/** Words of distant microphones in meetings; what was said is not known. */
async function readMeetings(
  reader: WordReader,
  folder: string,
  leftOut: string[],
): Promise<Word[]> {
  const clips = existsSync(folder) ? readdirSync(folder).filter((name) => /\.wav$/.test(name)) : [];
  if (clips.length === 0) leftOut.push("meetings (no ami/*.wav in VOICE_EVAL_DATA)");
  const words: Word[] = [];
  for (const clip of clips) {
    const pcm = readRecording(readFileSync(join(folder, clip)));
    words.push(...(await reader.read(toChunks(toSignal(pcm)))));
  }
  return words;
}

function report(
  fitted: ByCondition,
  tried: ByCondition,
  sentences: readonly Judged[],
  meetings: readonly Word[],
  leftOut: readonly string[],
): void {
  const of: Measure = ({ confidence }) => confidence;
  const fittedFloor = highestFloor(measured(fitted.get(CLEAN) ?? [], of), MOST_LOST);
  const measures: Record<string, { of: Measure; floor: number }> = {
    "fitted now": { of, floor: fittedFloor },
    shipped: { of, floor: CONFIDENCE_FLOOR },
  };
  const sets = new Map<string, readonly Judged[]>([
    ...tried,
    ["all of these", [...tried.values()].flat()],
    ["fitted on: clean", fitted.get(CLEAN) ?? []],
    ["fitted on: all", [...fitted.values()].flat()],
    ["read sentences", sentences],
  ]);
  const rows = Object.entries(measures).flatMap(([measure, { of, floor }]) =>
    [...sets].map(([set, words]) => ({ measure, set, ...rowOf(measured(words, of), floor) })),
  );
  const groups = [...Object.entries(GROUPS)].map(([group, conditions]): [string, Judged[]] => [
    group,
    [...tried].flatMap(([condition, words]) => (conditions.test(condition) ? words : [])),
  ]);
  const reliabilities = Object.entries(measures).flatMap(([measure, { of }]) =>
    [...groups, ["read sentences", sentences] as const].map(([group, judged]) => {
      const words = measured(judged, of);
      return { measure, group, error: calibrationError(words), bins: reliability(words) };
    }),
  );
  const belowInMeetings = meetings.filter(({ confidence }) => confidence < CONFIDENCE_FLOOR).length;
  const result = {
    floors: Object.fromEntries(Object.entries(measures).map(([name, { floor }]) => [name, floor])),
    rows,
    reliabilities,
    meetings: { words: meetings.length, below: belowInMeetings / Math.max(1, meetings.length) },
    left_out: leftOut,
  };
  mkdirSync(options.out, { recursive: true });
  const file = join(options.out, "confidence.json");
  writeFileSync(file, `${JSON.stringify(result, null, 2)}\n`);
  console.log(`${printed(result)}\n\nwritten to ${file}`);
  recordFigures(printed(result));
}

function measured(words: readonly Judged[], of: Measure): JudgedWord[] {
  return words.map((word) => ({ confidence: of(word), isRight: word.isRight }));
}

function rowOf(words: readonly JudgedWord[], floor: number) {
  const { rate } = equalError(words);
  return { floor, separation: separation(words), equalError: rate, ...figuresAt(words, floor) };
}

interface Result {
  floors: Record<string, number>;
  rows: ({ measure: string; set: string } & ReturnType<typeof rowOf>)[];
  /** Of words that nothing was fitted on, by measure. */
  reliabilities: {
    measure: string;
    group: string;
    error: number;
    bins: ReturnType<typeof reliability>;
  }[];
  meetings: { words: number; below: number };
  left_out: readonly string[];
}

function printedReliability(reliabilities: Result["reliabilities"]): string[] {
  return reliabilities.map(({ measure, group, error, bins }) => {
    const head = ["told", "words", "mean told", "right"];
    const table = bins.map((bin) => [
      `${bin.from.toFixed(1)} to ${(bin.from + 0.1).toFixed(1)}`,
      String(bin.words),
      bin.told.toFixed(3),
      bin.right.toFixed(3),
    ]);
    const title = `${measure}, ${group}: how many are right of the words told so (held out; off by ${error.toFixed(3)})`;
    return `${title}\n${textTable([head, ...table])}`;
  });
}

function printed(result: Result): string {
  const { floors, rows, meetings, left_out } = result;
  const percent = (share: number) => (100 * share).toFixed(1);
  const parts = Object.entries(floors).map(([name, floor]) => {
    const own = rows.filter(({ measure }) => measure === name);
    const table = own.map((row) => [
      row.set,
      String(row.words),
      percent(row.wrong),
      row.separation.toFixed(3),
      percent(row.equalError),
      percent(row.caught),
      percent(row.lost),
      percent(row.wrongAbove),
    ]);
    const head = ["", "words", "wrong", "AUC", "EER", "wrong caught", "right lost", "wrong above"];
    return `${name}, floor ${floor.toFixed(2)} (in %)\n${textTable([head, ...table])}`;
  });
  const below = percent(meetings.below);
  const lines = [
    `meetings: ${below} % of ${meetings.words} words lie below the shipped floor`,
    ...left_out.map((what) => `left out: ${what}`),
  ];
  const tables = printedReliability(result.reliabilities);
  return [...parts, ...tables, lines.join("\n")].join("\n\n");
}
