/**
 * `npm run eval:interim`: what a viewer waits for, measured on the reader itself with the audio
 * coming in live: the wait at the end of speech, finals, first interims, and how well the words
 * that are called stable hold. Reads the shipped conversation and, where they are, librivox/ and
 * ami/ in VOICE_EVAL_DATA (default ../shared/data); what is not there is left out and named.
 * Times are of the audio and of the processor, without network. Always ends with 0.
 * `--modelled 0.05` takes the time of the networks from a model of a quiet machine instead, where so
 * large a share of the readings comes late, so that the same code gives the same figures everywhere.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { SAMPLES_PER_MS } from "../../src/base/audio/sample-rate.ts";
import { startMoonshine } from "../support/moonshine-engine.ts";
import { recordFigures } from "../support/recorded-figures.ts";
import { InterimFigures } from "./interim-figures.ts";
import { readLive } from "./live-reading.ts";
import { readModelled } from "./modelled-reading.ts";
import { normaliseWords } from "./normalise-words.ts";
import { readRecording } from "./read-recording.ts";
import { loadConversation, loadReadSentences } from "./recordings.ts";
import { textTable } from "./text-table.ts";

/** Silences before a recording, so that its words meet the pieces and the pace differently. */
const PHASES_MS = [0, 23, 41, 67, 88];
const PROJECT = resolve(import.meta.dirname, "../..");

interface Sample {
  set: string;
  pcm: Int16Array;
  reference?: readonly string[];
}

const { values: options } = parseArgs({
  options: {
    out: { type: "string" },
    only: { type: "string", default: "" },
    piece: { type: "string", default: "60" },
    modelled: { type: "string" },
  },
});

const engine = await startMoonshine(2);
const leftOut: string[] = [];
const sets = new Map<string, InterimFigures>();
for (const { set, pcm, reference } of samples()) {
  const figures = sets.get(set) ?? new InterimFigures();
  sets.set(set, figures);
  for (const { reading, samples } of await readings(pcm)) {
    figures.add(reading, samples, reference, normaliseWords);
  }
}
engine.close();
const rows = [...sets].map(([set, figures]) => ({ set, ...figures.summary() }));
const titles = Object.keys(rows[0] ?? {});
const cells = rows.map((row) => Object.values(row).map((value) => `${value ?? "-"}`));
console.log(textTable([titles, ...cells]));
recordFigures([textTable([titles, ...cells]), ...leftOut].join("\n"));
for (const name of leftOut) console.log(`left out: ${name}`);
if (options.out) {
  mkdirSync(options.out, { recursive: true });
  writeFileSync(join(options.out, "interim.json"), `${JSON.stringify(rows, null, 2)}\n`);
}

/** One in real time, or several by the model. */
async function readings(pcm: Int16Array) {
  if (options.modelled === undefined) {
    const pieceMs = Number(options.piece);
    return [
      { reading: await readLive({ pcm, pieceMs, engine, isLive: true }), samples: pcm.length },
    ];
  }
  const lateShare = Number(options.modelled);
  const all = [];
  for (const phaseMs of PHASES_MS) {
    const reading = await readModelled(engine, pcm, { lateShare, phaseMs });
    all.push({ reading, samples: pcm.length + phaseMs * SAMPLES_PER_MS });
  }
  return all;
}

function samples(): Sample[] {
  const data = resolve(PROJECT, process.env.VOICE_EVAL_DATA ?? "../shared/data");
  const spoken = [
    loadConversation(join(PROJECT, "deploy/demo")),
    ...loadReadSentences(join(data, "librivox")).filter(({ name }) => name.endsWith("joined")),
  ].map(({ name, audio, reference }) => ({ set: name, pcm: toSamples(audio.data), reference }));
  if (spoken.length === 1) leftOut.push("read sentences (no librivox/ in VOICE_EVAL_DATA)");
  const folder = join(data, "ami");
  const clips = existsSync(folder) ? readdirSync(folder).filter((name) => /\.wav$/.test(name)) : [];
  if (clips.length === 0) leftOut.push("meetings (no ami/ in VOICE_EVAL_DATA)");
  const meetings = clips.map((name) => ({
    set: "meetings",
    pcm: readRecording(readFileSync(join(folder, name))),
  }));
  return [...spoken, ...meetings].filter(({ set }) => set.includes(options.only));
}

function toSamples(data: Buffer): Int16Array {
  return Int16Array.from({ length: data.length >> 1 }, (_, index) => data.readInt16LE(2 * index));
}
