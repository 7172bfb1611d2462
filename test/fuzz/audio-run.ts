/**
 * `npm run fuzz:audio`: mutated sound files through the thread of the service that measures and
 * decodes; with `--others` files of other formats through the processes of FFmpeg's package. A file
 * may be refused or read; a thread that ends, an answer that takes too long, other errors, memory
 * that grows and files that are left behind are findings, and the command ends with 1. A finding
 * names its file by its number: the same seed makes the same one.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { findDecoder } from "../../src/base/decoder/decoder-program.ts";
import { errorMessage, isAppError } from "../../src/base/errors.ts";
import { LoopDelay } from "../../src/base/metrics/loop-delay.ts";
import { FileConverter } from "../../src/conversations/recording/audio-files/file-converter.ts";
import { Sounds } from "../../src/conversations/recording/sounds.ts";
import { ChildMemory } from "../eval/child-memory.ts";
import { recordFigures } from "../support/recorded-figures.ts";
import { SeededRandom } from "../support/seeded-random.ts";
import { SOUND_NAMES, soundBytes } from "../support/sound-files.ts";

const USAGE = "npm run fuzz:audio -- [--files n] [--minutes n] [--seed n] [--others]";
/** One answer for a file of some seconds. */
const LONGEST_MS = 10_000;
/** Most memory of a decoder's process: what it may grow to, and what it takes besides. */
const MOST_DECODER_MIB = 700;
/** How long the event loop may stand still at a time, beside the threads and processes that decode. */
const MOST_STANDSTILL_MS = 1_000;
/** What the thread may hold more in the last quarter than after the first. */
const MOST_GROWTH = 64 * 1024 * 1024;
/** Longer files would be refused for their length before they are decoded. */
const MOST_SECONDS = 900;

const { values } = parseArgs({
  options: {
    files: { type: "string", default: "10000" },
    minutes: { type: "string", default: "60" },
    others: { type: "boolean", default: false },
    seed: { type: "string", default: String(Date.now() % 2 ** 31) },
  },
});
const files = Number(values.files);
const minutes = Number(values.minutes);
const seed = Number(values.seed);
if (!(Number.isInteger(files) && files > 0 && minutes > 0 && Number.isInteger(seed))) {
  console.error(USAGE);
  process.exit(2);
}

const OTHERS = ["mono.m4a", "front.mp4", "mono.3gp", "mono.aac", "alac.caf", "mono.aiff"];
const MORE_OTHERS = ["mono.wma", "adpcm.wav", "mono.mka", "he-aac-v2.m4a", "narrow.amr"];
const SOURCES = values.others
  ? [...OTHERS, ...MORE_OTHERS].map(fixture)
  : SOUND_NAMES.map((name) => soundBytes(name));

function fixture(name: string): Buffer {
  return readFileSync(new URL(`../fixtures/sounds/${name}`, import.meta.url));
}

/** Some bytes changed, doubled or left out; the beginning or the end cut off. */
function mutated(random: SeededRandom): Buffer {
  const bytes = Buffer.from(random.pick(SOURCES));
  for (let each = random.below(12); each > 0; each -= 1) {
    bytes[random.below(bytes.length)] = random.below(256);
  }
  const at = random.below(bytes.length);
  const length = random.below(2_000);
  switch (random.below(6)) {
    case 0:
      return bytes.subarray(0, at);
    case 1:
      return bytes.subarray(at);
    case 2:
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + length)]);
    case 3:
      return Buffer.concat([bytes.subarray(0, at + length), bytes.subarray(at)]);
    default:
      return bytes;
  }
}

console.log(`${files} files or ${minutes} minutes, seed ${seed}`);
const sounds = new Sounds();
const folder = mkdtempSync(join(tmpdir(), "voice-fuzz-"));
const converter = new FileConverter({ folder, program: findDecoder("bundled") });
const memory = new ChildMemory();
const delay = new LoopDelay();
const random = new SeededRandom(seed);
const outcomes = { refused: 0, decoded: 0, undecodable: 0, long: 0 };
const findings: string[] = [];
let slowest = 0;
let sum = "";
let early = 0;
let done = 0;
const begun = performance.now();

async function convert(data: Buffer): Promise<keyof typeof outcomes> {
  const order = { accountId: "fuzz", seconds: MOST_SECONDS, signal: new AbortController().signal };
  try {
    const { path } = await converter.convert({ kind: "memory", data }, order);
    rmSync(path);
    return "decoded";
  } catch (error) {
    if (isAppError(error, "not_audio")) return "undecodable";
    if (isAppError(error, "payload_too_large")) return "long";
    throw error;
  }
}

async function play(data: Buffer): Promise<keyof typeof outcomes> {
  if (values.others) return convert(data);
  const measured = await sounds.measure("fuzz", { data });
  if ("error" in measured) return "refused";
  if (measured.frames > MOST_SECONDS * measured.sampleRate) return "long";
  const wave = await sounds.wave("fuzz", { data });
  return wave === undefined ? "undecodable" : "decoded";
}

try {
  for (let file = 0; file < files; file += 1) {
    if (performance.now() - begun > minutes * 60_000) break;
    done += 1;
    const from = performance.now();
    try {
      outcomes[await play(mutated(random))] += 1;
    } catch (error) {
      findings.push(`file ${file}: ${errorMessage(error)}`);
    }
    const took = performance.now() - from;
    slowest = Math.max(slowest, took);
    if (took > LONGEST_MS) findings.push(`file ${file}: took ${took.toFixed(0)} ms`);
    const share = Math.max(done / files, (performance.now() - begun) / (minutes * 60_000));
    if (early === 0 && share >= 0.25) early = process.memoryUsage().rss;
  }
  const grown = process.memoryUsage().rss - early;
  if (grown > MOST_GROWTH) findings.push(`memory grew by ${toMebibytes(grown)} MiB`);
  const left = readdirSync(folder);
  if (left.length > 0) findings.push(`${left.length} files were left behind`);
  if (memory.most > MOST_DECODER_MIB) findings.push(`a decoder took ${memory.most.toFixed(0)} MiB`);
  const { longestMs } = delay;
  if (longestMs >= MOST_STANDSTILL_MS) {
    findings.push(`the event loop stood still for ${longestMs.toFixed(0)} ms`);
  }
  const seconds = ((performance.now() - begun) / 1_000).toFixed(0);
  sum =
    `${done} in ${seconds} s: ${JSON.stringify(outcomes)}, slowest ${slowest.toFixed(0)} ms, ` +
    `memory ${toMebibytes(early)} MiB after a quarter, ${toMebibytes(grown)} MiB more at the end, ` +
    `a decoder's process at most ${memory.most.toFixed(0)} MiB, ` +
    `the event loop stood still for ${longestMs.toFixed(0)} ms at most`;
  console.log(sum);
} finally {
  memory.stop();
  await sounds.stop();
  rmSync(folder, { recursive: true, force: true });
}
for (const finding of findings.slice(0, 20)) console.error(finding);
const verdict = findings.length === 0 ? "no finding" : `${findings.length} findings`;
console.log(verdict);
recordFigures(`${sum}\n${verdict}`);
process.exitCode = findings.length === 0 ? 0 : 1;

function toMebibytes(bytes: number): string {
  return (bytes / 1024 ** 2).toFixed(0);
}
