/**
 * `npm run eval:noise`: how many words the service finds in ten minutes each of silence, hum, a fan, music,
 * drums, a keyboard and a crowd, and in a fifth of that of other keyboards, mice, pens, cutlery and of
 * what hisses: sounds that are made here and hold none to be made out. Prints for
 * each how long voice was taken to be there, the utterances and the words, with those that are not
 * marked as unclear. Writes out/noise.json, ends with 0.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { SESSION_RATE } from "../../src/base/audio/sample-rate.ts";
import { type RunningEngine, startMoonshine } from "../support/moonshine-engine.ts";
import { chunkMessages, cutChunks, readSession, utterancesOf } from "../support/read-session.ts";
import { recordFigures } from "../support/recorded-figures.ts";
import { clatteringSounds } from "./clattering-sound.ts";
import { hissingSounds } from "./hissing-sound.ts";
import { textTable } from "./text-table.ts";
import { wordlessSounds } from "./wordless-sound.ts";

const PROJECT = resolve(import.meta.dirname, "../..");
const HELP = `npm run eval:noise -- [options]
  --minutes N   of each sound, a fifth of them of each clatter and hiss (default: 10)
  --only TEXT   only sounds whose name contains TEXT
  --out DIR     where noise.json goes (default: out)`;
/** Of sounds of which there are many less is read. */
const VARIANT_SHARE = 5;

const { values: options } = parseArgs({
  options: {
    minutes: { type: "string", default: "10" },
    only: { type: "string", default: "" },
    out: { type: "string", default: join(PROJECT, "out") },
    help: { type: "boolean", default: false },
  },
});

interface Row {
  sound: string;
  minutes: number;
  /** Spans that began like speech. */
  spans: number;
  words: number;
  /** Of them those that are not marked as unclear. */
  clear: number;
  text: string;
  seconds: number;
}

if (options.help) console.log(HELP);
else await evaluate();

async function evaluate(): Promise<void> {
  const engine = await startMoonshine();
  const rows: Row[] = [];
  try {
    const seconds = 60 * Number(options.minutes);
    const sounds = {
      ...(await wordlessSounds(seconds)),
      ...clatteringSounds(seconds / VARIANT_SHARE),
      ...hissingSounds(seconds / VARIANT_SHARE),
    };
    for (const [sound, make] of Object.entries(sounds)) {
      if (!sound.includes(options.only)) continue;
      process.stderr.write(`${sound}\n`);
      rows.push(await judge(sound, make(), engine));
    }
  } finally {
    engine.close();
  }
  mkdirSync(options.out, { recursive: true });
  const file = join(options.out, "noise.json");
  writeFileSync(file, `${JSON.stringify({ rows }, null, 2)}\n`);
  const head = ["sound", "minutes", "taken for speech", "words", "not unclear", "CPU s", "heard"];
  const table = rows.map((row) => [
    row.sound,
    String(row.minutes),
    String(row.spans),
    String(row.words),
    String(row.clear),
    row.seconds.toFixed(0),
    row.text.slice(0, 40),
  ]);
  console.log(`${textTable([head, ...table])}\n\nwritten to ${file}`);
  recordFigures(textTable([head, ...table]));
}

async function judge(sound: string, pcm: Int16Array, engine: RunningEngine): Promise<Row> {
  const begun = process.cpuUsage();
  const chunks = chunkMessages(cutChunks(pcm, 10 * SESSION_RATE));
  const messages = await readSession(engine, chunks);
  const { user, system } = process.cpuUsage(begun);
  const words = utterancesOf(messages).flatMap(({ segments }) =>
    segments.flatMap((segment) => segment.words),
  );
  return {
    sound,
    minutes: pcm.length / SESSION_RATE / 60,
    spans: messages.filter(({ $case }) => $case === "speechStarted").length,
    words: words.length,
    clear: words.filter(({ unclear }) => unclear !== true).length,
    text: words.map(({ text }) => text).join(" "),
    seconds: (user + system) / 1e6,
  };
}
