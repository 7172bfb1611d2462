/**
 * `npm run eval:vocabulary`: what a session's vocabulary does. Sentences with rare names are made
 * with Debian's `flite` in three voices and read without a vocabulary, with the names that are said,
 * and with seventy others besides; then sentences without any of the names. Prints how many names
 * are found, how often one is heard that was not said, the word error rates and the time it takes.
 * Writes out/vocabulary.json, ends with 0. With `--train` it learns the sounds of letters anew from
 * the recogniser's dictionary (half a minute), and says how many phones of words that were kept aside come out
 * right.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { LetterSounds } from "../../workers/speech/pocketsphinx/letter-sounds.ts";
import { loadNativeLibrary } from "../../workers/speech/pocketsphinx/native-library.ts";
import { PocketsphinxRecogniser } from "../../workers/speech/pocketsphinx/pocketsphinx-recogniser.ts";
import { phraseWords } from "../../workers/speech/pocketsphinx/vocabulary-model.ts";
import { RecogniserPool } from "../../workers/speech/recogniser-pool.ts";
import { findSpeechRoot } from "../support/native-packages.ts";
import { chunkMessages, readSession, utterancesOf } from "../support/read-session.ts";
import { toChunks, toSignal } from "./degraded-audio.ts";
import { layTurns, seededRandom, speak } from "./made-conversation.ts";
import { normaliseWords } from "./normalise-words.ts";
import { NAMES, PHRASES, plantedSentences, UNSAID } from "./planted-names.ts";
import { learnLetterSounds, type Pronounced, readDictionary } from "./pronunciation-training.ts";
import { TRIED_TEXTS } from "./spoken-texts.ts";
import { textTable } from "./text-table.ts";
import { alignWords, wordErrors } from "./word-error-rate.ts";

const PROJECT = resolve(import.meta.dirname, "../..");
const SOUNDS = join(PROJECT, "workers/speech/pocketsphinx/letter-sounds.txt");
const HELP = `npm run eval:vocabulary -- [options]
  --voices A,B      of flite's, by whom all is said (default: slt,rms)
  --sentences N     no more of each kind
  --out DIR   where vocabulary.json goes (default: out)
  --train     learn the sounds of letters anew, and write them into the sources`;
/** Every n-th word of the dictionary is kept aside when the sounds of letters are judged. */
const KEPT_ASIDE = 10;

const { values: options } = parseArgs({
  options: {
    out: { type: "string", default: join(PROJECT, "out") },
    voices: { type: "string", default: "slt,rms" },
    sentences: { type: "string", default: "100" },
    train: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

if (options.help) console.log(HELP);
else if (options.train) train();
else await evaluate();

function train(): void {
  const { modelFolder } = loadNativeLibrary(findSpeechRoot());
  const words = readDictionary(readFileSync(join(modelFolder, "cmudict-en-us.dict"), "utf8"));
  const isAside = (_: Pronounced, at: number): boolean => at % KEPT_ASIDE === 0;
  const most = words.filter((word, at) => !isAside(word, at));
  const sounds = new LetterSounds(learnLetterSounds(most));
  const errors = words.filter(isAside).map(({ word, phones }) => {
    return wordErrors(phones, sounds.phones(word));
  });
  const sum = (of: (each: (typeof errors)[number]) => number): number =>
    errors.reduce((total, each) => total + of(each), 0);
  const wrong = sum((each) => each.substitutions + each.deletions + each.insertions);
  const whole = sum((each) => (each.rate === 0 ? 1 : 0));
  console.log(
    `of ${errors.length} words kept aside ${percent(whole / errors.length)} % come out right, and ${percent(wrong / sum((each) => each.reference_words))} % of the phones are wrong`,
  );
  writeFileSync(SOUNDS, `${learnLetterSounds(words)}\n`);
  console.log(`learnt from all ${words.length}, written to ${SOUNDS}`);
}

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
  const library = loadNativeLibrary(findSpeechRoot());
  const pool = { size: 1, waitMs: 1_000, waiters: 1 };
  const recognisers = new RecogniserPool(() => PocketsphinxRecogniser.load(library), pool);
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
      const of = { list, watched: [...said, ...UNSAID], recognisers };
      rows.push({ texts: "with names", vocabulary: name, ...(await judge(planted, of)) });
      rows.push({ texts: "without names", vocabulary: name, ...(await judge(plain, of)) });
    }
  } finally {
    await recognisers.close();
  }
  mkdirSync(options.out, { recursive: true });
  const file = join(options.out, "vocabulary.json");
  writeFileSync(file, `${JSON.stringify({ voices: options.voices, rows }, null, 2)}\n`);
  console.log(`${printed(rows)}\n\nwritten to ${file}`);
}

interface Judging {
  list: readonly string[];
  watched: readonly string[];
  recognisers: RecogniserPool;
}

async function judge(
  scripts: readonly Script[],
  { list, watched, recognisers }: Judging,
): Promise<Omit<Row, "texts" | "vocabulary">> {
  const counts = { said: 0, found: 0, falseAlarms: 0, errors: 0, words: 0, samples: 0, seconds: 0 };
  for (const { texts, chunks } of scripts) {
    const begun = process.cpuUsage();
    const messages = await readSession(
      recognisers,
      chunkMessages(chunks),
      undefined,
      undefined,
      list,
    );
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
    const words = phraseWords(name).flatMap(({ word }) => normaliseWords(word));
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
