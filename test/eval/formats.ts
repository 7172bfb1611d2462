/**
 * `npm run eval:formats`: makes some hundred files of the beginning of the shipped conversation, with
 * ffmpeg, sox, flac, flite and espeak-ng, and has each checked and, where it takes that, decoded as an
 * upload, and read as by a worker. Prints whether it was taken, with what sentence, its length and its
 * words against the WAV file's, how fast it became readable, and the memory of its decoder.
 * Writes out/formats.json; ends with 1 when a file came to something else than it should.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { SESSION_RATE, toSessionSamples } from "../../src/base/audio/sample-rate.ts";
import { findDecoder } from "../../src/base/decoder/decoder-program.ts";
import { isAppError } from "../../src/base/errors.ts";
import { encodeWave, readWave } from "../../src/cli/device/wave-file.ts";
import { FileConverter } from "../../src/conversations/recording/audio-files/file-converter.ts";
import { readableUpload } from "../../src/conversations/recording/readable-upload.ts";
import { Sounds } from "../../src/conversations/recording/sounds.ts";
import { type RunningEngine, startMoonshine } from "../support/moonshine-engine.ts";
import { chunkMessages, readSession, textOf } from "../support/read-session.ts";
import { recordFigures } from "../support/recorded-figures.ts";
import { ChildMemory } from "./child-memory.ts";
import { FORMAT_FILES, type FormatFile, Workshop } from "./format-files.ts";
import { measureHostile } from "./format-hostile.ts";
import { normaliseWords } from "./normalise-words.ts";
import { textTable } from "./text-table.ts";
import { wordErrors } from "./word-error-rate.ts";

const PROJECT = resolve(import.meta.dirname, "../..");
const HELP = `npm run eval:formats -- [options]
  --only TEXT   only files whose name contains TEXT
  --decoder X   what decodes that we do not read ourselves: bundled (default), or FFmpeg's path
  --out DIR     where formats.json goes (default: out)`;
/** Two turns of the conversation. */
const SECONDS = 10.1;
/** Encoders pad to whole frames, or leave the last one out. */
const MOST_LONG_S = 0.1;
const MOST_SHORT_S = 0.03;
/** Share of words that may differ from those of the WAV file. */
const MOST_ERRORS = 0.35;

const { values: options } = parseArgs({
  options: {
    only: { type: "string", default: "" },
    decoder: { type: "string", default: "bundled" },
    out: { type: "string", default: join(PROJECT, "out") },
    help: { type: "boolean", default: false },
  },
});

interface Outcome {
  name: string;
  bytes: number;
  /** Why it is refused, or could not be read after it was taken. */
  sentence: string;
  /** Media type under which it is stored; absent when it is refused. */
  mediaType?: string;
  seconds?: number;
  /** Seconds of sound for each second until it could be stored. */
  speed?: number;
  /** Most memory of the process that decoded it, MiB; absent where none was needed. */
  decoderMiB?: number;
  words?: string[];
  /** Words that differ from what is heard in the WAV file, of how many there. */
  errors?: number;
  of?: number;
  /** What is otherwise than it should be. */
  fault?: string | undefined;
}

type Read = (mediaType: string, data: Buffer, frames: number, rate: number) => Promise<Heard>;

interface Heard {
  words: string[];
  failed: string | undefined;
}

if (options.help) console.log(HELP);
else await evaluate();

async function evaluate(): Promise<void> {
  const engine = await startMoonshine();
  const sounds = new Sounds();
  const folder = mkdtempSync(join(tmpdir(), "voice-formats-"));
  try {
    const base = readWave(join(PROJECT, "deploy/demo/conversation.wav"));
    const data = base.data.subarray(0, 2 * SECONDS * base.sampleRate);
    writeFileSync(join(folder, "base.wav"), encodeWave({ ...base, data }));
    const workshop = new Workshop(folder, SECONDS);
    const program = findDecoder(options.decoder);
    const door: Door = { sounds, converter: new FileConverter({ folder, program }) };
    const read: Read = (...file) => readFile(engine, ...file);
    const truth = await read("audio/wav", workshop.base(), SECONDS * SESSION_RATE, SESSION_RATE);
    const outcomes: Outcome[] = [];
    const missing: string[] = [];
    for (const file of FORMAT_FILES.filter(({ name }) => name.includes(options.only))) {
      const bytes = madeBytes(file, workshop, missing);
      if (bytes !== undefined) outcomes.push(await judge(file, bytes, { door, read, truth }));
    }
    const hostile = await measureHostile(program);
    report(outcomes, missing, hostile);
  } finally {
    engine.close();
    await sounds.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Undefined when it cannot be made here; then `missing` says why. */
function madeBytes(file: FormatFile, workshop: Workshop, missing: string[]): Buffer | undefined {
  try {
    return file.make(workshop);
  } catch (error) {
    const isAbsent = error instanceof Error && "code" in error && error.code === "ENOENT";
    const why = isAbsent ? "is not installed" : "could not make it";
    missing.push(`${file.name}: ${file.programs.join(", ")} ${why}`);
    return undefined;
  }
}

async function judge(
  file: FormatFile,
  bytes: Buffer,
  { door, read, truth }: { door: Door; read: Read; truth: Heard },
): Promise<Outcome> {
  process.stderr.write(`${file.name}\n`);
  const { name, mediaType = "application/octet-stream" } = file;
  const size = { name, bytes: bytes.length };
  try {
    const { data, audio: taken, ...cost } = await throughDoor(bytes, mediaType, door);
    const heard = await read(taken.mediaType, data, taken.frames, taken.sampleRate);
    const { substitutions, deletions, insertions } = wordErrors(truth.words, heard.words);
    const outcome = {
      ...size,
      mediaType: taken.mediaType,
      seconds: taken.durationSeconds,
      ...cost,
      words: heard.words,
      sentence: heard.failed ?? "",
      ...("read" in file.expected &&
        file.expected.seconds === undefined && {
          errors: substitutions + deletions + insertions,
          of: truth.words.length,
        }),
    };
    return { ...outcome, fault: faultOf(file, outcome) };
  } catch (error) {
    const isRefusal = isAppError(error, "not_audio") || isAppError(error, "unsupported_media_type");
    if (!isRefusal) throw error;
    const outcome = { ...size, sentence: error.message };
    return { ...outcome, fault: faultOf(file, outcome) };
  }
}

interface Door {
  sounds: Sounds;
  converter: FileConverter;
}

/** Checks and decodes a file as the routes of uploads do. */
async function throughDoor(bytes: Buffer, mediaType: string, door: Door) {
  const begun = performance.now();
  const memory = new ChildMemory();
  try {
    const { upload, audio, release } = await readableUpload(
      {
        ...{ content: { kind: "memory", data: bytes }, bytes: bytes.length, mediaType },
        ...{ sha256: "", filename: "", fields: {} },
      },
      { ...door, accountId: "eval", seconds: 900, signal: new AbortController().signal },
    );
    const seconds = (performance.now() - begun) / 1_000;
    const { content } = upload;
    const data = content.kind === "memory" ? content.data : readFileSync(content.path);
    await release();
    const speed = audio.durationSeconds / seconds;
    return { data, audio, speed, ...(memory.most > 0 && { decoderMiB: memory.most }) };
  } finally {
    memory.stop();
  }
}

/** What a worker's session reader makes of a stored upload. */
async function readFile(
  engine: RunningEngine,
  mediaType: string,
  data: Buffer,
  frames: number,
  sampleRate: number,
): Promise<Heard> {
  const length = toSessionSamples(frames, sampleRate);
  const chunk = { sequence: 0, start: 0, length, mediaType, data };
  const messages = await readSession(engine, chunkMessages([chunk]));
  const failures = messages.flatMap((each) => (each.$case === "chunkFailed" ? [each.value] : []));
  return { words: normaliseWords(textOf(messages)), failed: failures[0]?.message };
}

/** Undefined when the file came to what it should. */
function faultOf({ expected }: FormatFile, outcome: Outcome): string | undefined {
  const { seconds, sentence, errors, of = 0 } = outcome;
  if ("refused" in expected) {
    if (seconds !== undefined) return "was taken";
    return expected.refused.test(sentence) ? undefined : `no word of ${expected.refused}`;
  }
  if (seconds === undefined) return "was refused";
  if (sentence !== "") return "was taken, and could not be read";
  const [least, most] = expected.seconds ?? [SECONDS - MOST_SHORT_S, SECONDS + MOST_LONG_S];
  if (seconds < least || seconds > most) return `should last ${least} to ${most} s`;
  const isHeard = expected.read === "sound" || (errors ?? 0) <= MOST_ERRORS * of;
  return isHeard ? undefined : "has other words";
}

function report(
  outcomes: readonly Outcome[],
  missing: readonly string[],
  hostile: Awaited<ReturnType<typeof measureHostile>>,
): void {
  mkdirSync(options.out, { recursive: true });
  const path = join(options.out, "formats.json");
  writeFileSync(path, `${JSON.stringify({ outcomes, missing, hostile }, null, 2)}\n`);
  const head = ["file", "bytes", "seconds", "× real time", "MiB", "words", "other words", "fault"];
  const rows = outcomes.map(({ name, bytes, seconds, words, errors, of, fault, ...cost }) => [
    name,
    String(bytes),
    seconds?.toFixed(3) ?? "refused",
    cost.speed?.toFixed(0) ?? "",
    cost.decoderMiB?.toFixed(0) ?? "",
    words === undefined ? "" : String(words.length),
    errors === undefined ? "" : `${errors} of ${of}`,
    fault ?? "",
  ]);
  // What is accepted follows each refusal.
  const sentences = ["", ...outcomes.map(({ sentence }) => sentence.split(" Send ")[0] ?? "")];
  const hostileTable = tableOfHostile(hostile);
  console.log(`\n${hostileTable}`);
  const faults = outcomes.filter(({ fault }) => fault !== undefined).length;
  const taken = outcomes.filter(({ seconds }) => seconds !== undefined).length;
  const lines = textTable([head, ...rows]).split("\n");
  console.log(lines.map((line, at) => `${line}  ${sentences[at] ?? ""}`.trimEnd()).join("\n"));
  for (const each of missing) console.log(`left out: ${each}`);
  const sum = `${outcomes.length} files: ${taken} taken, ${outcomes.length - taken} refused, ${faults} not as they should be`;
  console.log(`\n${sum}; written to ${path}`);
  recordFigures([sum, ...missing.map((each) => `left out: ${each}`), "", hostileTable].join("\n"));
  const isFair = hostile.outcomes.every(({ met }) => met);
  process.exitCode = faults === 0 && isFair ? 0 : 1;
}

function tableOfHostile({ aloneMs, outcomes }: Awaited<ReturnType<typeof measureHostile>>): string {
  const head = [
    "hostile file",
    "bytes",
    "s",
    "MiB",
    "another's file beside them, ms",
    "",
    "its end",
  ];
  const rows = outcomes.map(({ name, bytes, ms, decoderMiB, besideMs, met, end }) => [
    ...[name, String(bytes), (ms / 1_000).toFixed(1), decoderMiB.toFixed(0), besideMs.toFixed(0)],
    ...[met ? "met" : "missed", end],
  ]);
  const alone = `Another's file alone: ${aloneMs.toFixed(0)} ms; beside them at most 3 times that + 1 s`;
  return `${alone}\n${textTable([head, ...rows])}`;
}
