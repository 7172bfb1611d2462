/**
 * `npm run eval:gate`: whether what keeps words out of noise keeps words out of speech. Reads recordings
 * as they are, 20 and 30 dB quieter, in noise, and whispered (Debian's espeak-ng), with the gate and
 * without it, and tells how many words each way hears and, where it is known what was said, how many
 * of those are right. Reads the shipped conversation and librivox/, ami/ and voices/ of VOICE_EVAL_DATA (default
 * ../shared/data); names what is not there. Writes out/gate.json, ends with 0.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { loadNativeLibrary } from "../../workers/speech/pocketsphinx/native-library.ts";
import { PocketsphinxRecogniser } from "../../workers/speech/pocketsphinx/pocketsphinx-recogniser.ts";
import { RecogniserPool } from "../../workers/speech/recogniser-pool.ts";
import { findSpeechRoot } from "../support/native-packages.ts";
import { chunkMessages, readSession, utterancesOf } from "../support/read-session.ts";
import { pinkNoise, type Signal, toChunks, toSignal, withNoise } from "./degraded-audio.ts";
import { judgeWords } from "./judged-words.ts";
import { seededRandom } from "./made-conversation.ts";
import { normaliseWords } from "./normalise-words.ts";
import { readRecording } from "./read-recording.ts";
import { loadConversation, loadReadSentences } from "./recordings.ts";
import { findSpeakerRecordings } from "./speaker-recordings.ts";
import { TRIED_TEXTS } from "./spoken-texts.ts";
import { textTable } from "./text-table.ts";

const PROJECT = resolve(import.meta.dirname, "../..");
const HELP = `npm run eval:gate -- [options]
  --only TEXT[,TEXT]   only sounds whose name contains one of these
  --out DIR            where gate.json goes (default: out)
Environment: VOICE_EVAL_DATA, folder with librivox/, ami/ and voices/ (default: ../shared/data)`;
/** Decibels: how much quieter, and how far voices lie above pink noise. */
const QUIETER = [20, 30];
const NOISY = [10, 5, 0];
/** Recordings of human voices in turns, of each condition. */
const VOICES = /^ami-|^(clean|room|phone)-c(3a|4b)$/;
const WHISPERED = 12;

const { values: options } = parseArgs({
  options: {
    only: { type: "string", default: "" },
    out: { type: "string", default: join(PROJECT, "out") },
    help: { type: "boolean", default: false },
  },
});

interface Sound {
  name: string;
  reference: readonly string[];
  load: () => Promise<Signal>;
}

interface Counts {
  words: number;
  /** Of words that were said, where that is known. */
  right: number | undefined;
  utterances: number;
}

interface Row {
  sound: string;
  gated: Counts;
  open: Counts;
}

if (options.help) console.log(HELP);
else await evaluate();

async function evaluate(): Promise<void> {
  const library = loadNativeLibrary(findSpeechRoot());
  const pool = { size: 1, waitMs: 1_000, waiters: 1 };
  const gated = new RecogniserPool(() => PocketsphinxRecogniser.load(library), pool);
  const open = new RecogniserPool(async () => {
    const recogniser = await PocketsphinxRecogniser.load(library);
    return Object.assign(recogniser, { knowsNoise: true });
  }, pool);
  const leftOut: string[] = [];
  const rows = new Map<string, Row>();
  try {
    for (const sound of soundsOf(leftOut)) {
      if (!options.only.split(",").some((part) => sound.name.includes(part))) continue;
      process.stderr.write(`${sound.name}\n`);
      const signal = await sound.load();
      const row = {
        gated: await heard(gated, sound, signal),
        open: await heard(open, sound, signal),
      };
      rows.set(sound.name, added(rows.get(sound.name), { sound: sound.name, ...row }));
    }
  } finally {
    await Promise.all([gated.close(), open.close()]);
  }
  report([...rows.values()], leftOut);
}

function soundsOf(leftOut: string[]): Sound[] {
  const data = resolve(PROJECT, process.env.VOICE_EVAL_DATA ?? "../shared/data");
  const sentences = loadReadSentences(join(data, "librivox")).slice(-1);
  if (sentences.length === 0) leftOut.push("read sentences (no librivox/ in VOICE_EVAL_DATA)");
  const known = [loadConversation(join(PROJECT, "deploy/demo")), ...sentences];
  const found = findSpeakerRecordings(data, { short: true });
  leftOut.push(...found.leftOut);
  const voices = found.recordings.filter(({ name }) => VOICES.test(name));
  return [
    ...known.flatMap(({ name, audio, reference }) =>
      variants(name, toSamples(audio.data), reference),
    ),
    ...whispered(leftOut),
    ...voices.flatMap(({ name, load }) => {
      const set = name.replace(/-.*/, name.startsWith("ami") ? "" : " voices");
      const signal = async () => toSignal((await load()).pcm);
      return variants(set, signal, []).filter((each) => !each.name.includes("noise"));
    }),
  ];
}

/** A recording as it is, quieter, and in noise. */
function variants(
  name: string,
  pcm: Int16Array | (() => Promise<Signal>),
  reference: readonly string[],
): Sound[] {
  const load = typeof pcm === "function" ? pcm : async () => toSignal(pcm);
  const changed = (how: string, change: (signal: Signal) => Signal): Sound => {
    return { name: `${name}${how}`, reference, load: async () => change(await load()) };
  };
  return [
    changed("", (signal) => signal),
    ...QUIETER.map((db) =>
      changed(`, ${db} dB quieter`, (signal) => signal.map((each) => each * 10 ** (-db / 20))),
    ),
    ...NOISY.map((db) =>
      changed(`, noise at ${db} dB`, (signal) =>
        withNoise(signal, pinkNoise(signal.length, seededRandom(db)), db),
      ),
    ),
  ];
}

/** Sentences that espeak-ng whispers. */
function whispered(leftOut: string[]): Sound[] {
  const texts = TRIED_TEXTS.slice(0, WHISPERED);
  try {
    const args = ["-v", "en-us+whisper", "-s", "140", "--stdout", texts.join(" ")];
    const spoken = execFileSync("espeak-ng", args, {
      maxBuffer: 64 * 1024 * 1024,
      timeout: 60_000,
    });
    const soxArgs = ["-t", "wav", "-", "-r", "16000", "-b", "16", "-t", "wav", "-"];
    const wav = execFileSync("sox", soxArgs, {
      input: spoken,
      maxBuffer: 64 * 1024 * 1024,
      stdio: ["pipe", "pipe", "ignore"],
      timeout: 60_000,
    });
    const reference = texts.flatMap((text) => normaliseWords(text));
    return variants("whispered", readRecording(wav), reference).slice(0, 1 + QUIETER.length);
  } catch {
    leftOut.push("whispering (espeak-ng and sox are needed)");
    return [];
  }
}

async function heard(
  recognisers: RecogniserPool,
  { reference }: Sound,
  signal: Signal,
): Promise<Counts> {
  const messages = await readSession(recognisers, chunkMessages(toChunks(signal)));
  const words = utterancesOf(messages).flatMap(({ segments }) =>
    segments.flatMap((segment) => segment.words),
  );
  const judged = judgeWords(reference, words);
  return {
    words: words.length,
    right: reference.length === 0 ? undefined : judged.filter(({ isRight }) => isRight).length,
    utterances: utterancesOf(messages).filter(({ segments }) => segments.length > 0).length,
  };
}

function added(before: Row | undefined, row: Row): Row {
  if (before === undefined) return row;
  return { ...row, gated: sum(before.gated, row.gated), open: sum(before.open, row.open) };
}

function sum(one: Counts, other: Counts): Counts {
  return {
    words: one.words + other.words,
    right: one.right === undefined ? undefined : one.right + (other.right ?? 0),
    utterances: one.utterances + other.utterances,
  };
}

function report(rows: readonly Row[], leftOut: readonly string[]): void {
  mkdirSync(options.out, { recursive: true });
  const file = join(options.out, "gate.json");
  writeFileSync(file, `${JSON.stringify({ rows, left_out: leftOut }, null, 2)}\n`);
  const head = [
    "sound",
    "words with the gate",
    "without",
    "right with",
    "without",
    "utterances with",
  ];
  const table = rows.map(({ sound, gated, open }) => [
    sound,
    String(gated.words),
    String(open.words),
    String(gated.right ?? "-"),
    String(open.right ?? "-"),
    `${gated.utterances} of ${open.utterances}`,
  ]);
  console.log(textTable([head, ...table]));
  for (const what of leftOut) console.log(`left out: ${what}`);
  console.log(`\nwritten to ${file}`);
}

function toSamples(data: Buffer): Int16Array {
  return Int16Array.from({ length: data.length >> 1 }, (_, index) => data.readInt16LE(2 * index));
}
