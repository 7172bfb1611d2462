/**
 * `npm run eval:vocabulary`: what a session's vocabulary does. Sentences with rare names are made
 * with Debian's `flite` in three voices and read without a vocabulary, with the names that are said,
 * and with seventy others besides; then sentences without any of the names. Prints how many names
 * are found, how often one is heard that was not said, the word error rates and the time it takes.
 * Writes out/vocabulary.json, ends with 0.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { type RunningEngine, startMoonshine } from "../support/moonshine-engine.ts";
import { chunkMessages, readSession, utterancesOf } from "../support/read-session.ts";
import { recordFigures } from "../support/recorded-figures.ts";
import { toChunks, toSignal } from "./degraded-audio.ts";
import { layTurns, seededRandom, speak } from "./made-conversation.ts";
import { normaliseWords } from "./normalise-words.ts";
import { NAMES, PHRASES, plantedSentences, UNSAID } from "./planted-names.ts";
import { TRIED_TEXTS } from "./spoken-texts.ts";
import { textTable } from "./text-table.ts";
import { alignWords, wordErrors } from "./word-error-rate.ts";

const PROJECT = resolve(import.meta.dirname, "../..");
const HELP = `npm run eval:vocabulary -- [options]
  --voices A,B      of flite's, by whom all is said (default: slt,rms)
  --sentences N     no more of each kind
  --out DIR   where vocabulary.json goes (default: out)`;
const { values: options } = parseArgs({
  options: {
    out: { type: "string", default: join(PROJECT, "out") },
    voices: { type: "string", default: "slt,rms" },
    sentences: { type: "string", default: "100" },
    help: { type: "boolean", default: false },
  },
});

if (options.help) console.log(HELP);
else await evaluate();

interface Script {
  texts: readonly string[];
  chunks: ReturnType<typeof toChunks>;
}

async function speakTexts(texts: readonly string[], voice: string): Promise<Script> {
  const turns: { speaker: string; pcm: Int16Array }[] = [];
  for (const text of texts) turns.push({ speaker: voice, pcm: await speak(voice, text) });
  const { pcm } = layTurns("", turns, seededRandom(1));
  return { texts, chunks: toChunks(toSignal(pcm)) };
}

interface Row {
  texts: string;
  vocabulary: string;
  said: number;
  found: number;
  falseAlarms: number;
  wordErrorRate: number;
  hours: number;
  seconds: number;
}

async function evaluate(): Promise<void> {
  const engine = await startMoonshine();
  const said = [...NAMES, ...PHRASES];
  const lists: Record<string, readonly string[]> = {
    none: [],
    [`the ${said.length} said`]: said,
    [`${said.length + UNSAID.length}, ${said.length} of them said`]: [...said, ...UNSAID],
  };
  const rows: Row[] = [];
  try {
    const voices = options.voices.split(",");
    const most = Number(options.sentences);
    const speakAll = (texts: readonly string[]): Promise<Script[]> =>
      Promise.all(voices.map((voice) => speakTexts(texts.slice(0, most), voice)));
    const planted = await speakAll(plantedSentences());
    const plain = await speakAll(TRIED_TEXTS);
    for (const [name, list] of Object.entries(lists)) {
      const of = { list, watched: [...said, ...UNSAID], engine };
      rows.push({ texts: "with names", vocabulary: name, ...(await judge(planted, of)) });
      rows.push({ texts: "without names", vocabulary: name, ...(await judge(plain, of)) });
    }
  } finally {
    engine.close();
  }
  mkdirSync(options.out, { recursive: true });
  const file = join(options.out, "vocabulary.json");
  writeFileSync(file, `${JSON.stringify({ voices: options.voices, rows }, null, 2)}\n`);
  console.log(`${printed(rows)}\n\nwritten to ${file}`);
  recordFigures(printed(rows));
}

interface Judging {
  list: readonly string[];
  watched: readonly string[];
  engine: RunningEngine;
}

async function judge(
  scripts: readonly Script[],
  { list, watched, engine }: Judging,
): Promise<Omit<Row, "texts" | "vocabulary">> {
  const counts = { said: 0, found: 0, falseAlarms: 0, errors: 0, words: 0, samples: 0, seconds: 0 };
  for (const { texts, chunks } of scripts) {
    const begun = process.cpuUsage();
    const messages = await readSession(engine, chunkMessages(chunks), undefined, undefined, list);
    const { user, system } = process.cpuUsage(begun);
    counts.seconds += (user + system) / 1e6;
    counts.samples += chunks.reduce((sum, { length }) => sum + length, 0);
    const heard = utterancesOf(messages).flatMap(({ segments }) =>
      segments.flatMap(({ words }) => words.flatMap(({ text }) => normaliseWords(text))),
    );
    const reference = texts.flatMap((text) => normaliseWords(text));
    const errors = wordErrors(reference, heard);
    counts.errors += errors.substitutions + errors.deletions + errors.insertions;
    counts.words += reference.length;
    const found = findNames(reference, heard, watched);
    counts.said += found.said;
    counts.found += found.found;
    counts.falseAlarms += found.falseAlarms;
  }
  const { said, found, falseAlarms, seconds, samples } = counts;
  const wordErrorRate = counts.errors / counts.words;
  return { said, found, falseAlarms, wordErrorRate, hours: samples / 16_000 / 3_600, seconds };
}

/**
 * How many names were said and found, all their words in their places; a false alarm is a rare word of the list
 * that was heard where another or none was said.
 */
function findNames(
  reference: readonly string[],
  heard: readonly string[],
  names: readonly string[],
): { said: number; found: number; falseAlarms: number } {
  const aligned = alignWords(reference, heard);
  const right = new Set(
    aligned.flatMap((each) => (each.kind === "correct" ? [each.reference] : [])),
  );
  const rare = new Set(names.filter((name) => !/\s/.test(name)).map((name) => name.toLowerCase()));
  const counts = { said: 0, found: 0, falseAlarms: 0 };
  for (const name of names) {
    const words = normaliseWords(name);
    for (const at of reference.keys()) {
      if (!words.every((word, offset) => reference[at + offset] === word)) continue;
      counts.said += 1;
      if (words.every((_, offset) => right.has(at + offset))) counts.found += 1;
    }
  }
  for (const each of aligned) {
    if (each.kind !== "substitution" && each.kind !== "insertion") continue;
    if (rare.has(heard[each.hypothesis] ?? "")) counts.falseAlarms += 1;
  }
  return counts;
}

function percent(share: number): string {
  return (100 * share).toFixed(1);
}

function printed(rows: readonly Row[]): string {
  const head = [
    "sentences, vocabulary",
    "names said",
    "found %",
    "false",
    "per hour",
    "WER %",
    "CPU s",
  ];
  return textTable([
    head,
    ...rows.map((row) => [
      `${row.texts}, ${row.vocabulary}`,
      String(row.said),
      row.said === 0 ? "" : percent(row.found / row.said),
      String(row.falseAlarms),
      (row.falseAlarms / row.hours).toFixed(0),
      percent(row.wordErrorRate),
      row.seconds.toFixed(0),
    ]),
  ]);
}
