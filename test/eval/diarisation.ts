/**
 * `npm run eval:speakers`: who speaks when, through the service's own code: each recording is read
 * live by the worker's session reader, and what it sends goes through the session's decisions, as
 * viewers see it. Recordings are in VOICE_EVAL_DATA (voices/ and ami/; default ../shared/data
 * beside the project) or made on the spot by Debian's `flite`; what is not there is left out and
 * named. Prints two tables; with --out writes speakers.json and RTTM files. Ends with 0.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { SESSION_RATE } from "../../src/base/audio/sample-rate.ts";
import { errorMessage } from "../../src/base/errors.ts";
import { SessionTracker } from "../../workers/speakers/session-tracker.ts";
import { startMoonshine } from "../support/moonshine-engine.ts";
import { recordFigures } from "../support/recorded-figures.ts";
import {
  figuresOf,
  namedTurns,
  pooled,
  type SpeakerFigures,
  STAGES,
} from "./diarisation-figures.ts";
import { speakerReport } from "./diarisation-report.ts";
import { type DiarisationRun, runSession, runTracker } from "./diarisation-run.ts";
import type { SpokenTurn } from "./diarisation-score.ts";
import { longSession } from "./long-session.ts";
import { scoreWithMdEval } from "./md-eval.ts";
import { RememberedAnswers } from "./remembered-answers.ts";
import { formatRttm } from "./rttm.ts";
import { findScorer } from "./sctk.ts";
import type { SpeakerRecording } from "./speaker-recording.ts";
import { findSpeakerRecordings } from "./speaker-recordings.ts";
import { SPEECH_AS_WORDS, SpeechAsWords } from "./speech-as-words.ts";

const PROJECT = resolve(import.meta.dirname, "../..");
const CHUNK_MS = 2000;
const STREAM_MS = 100;
const HELP = `npm run eval:speakers -- [options]
  --only NAMES  beginnings of names, with commas: clean-c2b,room,ami,case,made-slt
  --stream      audio in pieces of 100 ms, as streams have it (default: chunks of 2 s)
  --words       what the recogniser makes words of alone (default: all speech, in any language)
  --fast        the tracker alone, without the recogniser: seconds instead of minutes
  --hours N     instead: what telling voices apart costs in a session of N hours, made by repeating
                the first recording of --only (default clean-c6a)
  --short       fewer made conversations
  --md-eval     scores the same turns with md-eval of Debian's sctk, and compares
  --out DIR     writes speakers.json and DIR/rttm/NAME.{ref,first,live,final}.rttm
Environment: VOICE_EVAL_DATA, folder with voices/ and ami/ (default: ../shared/data)`;

const flag = { type: "boolean", default: false } as const;
const { values: options } = parseArgs({
  options: {
    only: { type: "string", default: "" },
    stream: flag,
    words: flag,
    fast: flag,
    hours: { type: "string" },
    short: flag,
    "md-eval": flag,
    out: { type: "string" },
    help: flag,
  },
});

if (options.help) console.log(HELP);
else if (options.hours) await evaluateLength(Number(options.hours));
else await evaluate();

type Reader = (pcm: Int16Array) => Promise<DiarisationRun>;

async function evaluate(): Promise<void> {
  const data = resolve(PROJECT, process.env.VOICE_EVAL_DATA ?? "../shared/data");
  const { recordings, leftOut } = findSpeakerRecordings(data, options);
  const chosen = inOrder(recordings, options.only.split(","));
  if (chosen.length === 0) leftOut.push(`all: no recording's name begins with ${options.only}`);
  const mdEval = options["md-eval"] ? findScorer("md-eval.pl") : undefined;
  if (options["md-eval"] && !mdEval) leftOut.push("md-eval: Debian's `sctk` is not installed");
  const { rows, largest } = await measureAll(chosen, { mdEval, leftOut });
  if (rows.length > 0) {
    console.log(speakerReport(rows, how()));
    recordFigures([speakerReport(rows, how()), ...leftOut].join("\n"));
    if (mdEval) console.log(`largest difference to md-eval: ${largest.toFixed(3)} points`);
  }
  for (const what of leftOut) console.log(`left out: ${what}`);
}

async function evaluateLength(hours: number): Promise<void> {
  if (!(hours > 0)) throw new Error(`--hours takes a number of hours, not ${options.hours}`);
  const data = resolve(PROJECT, process.env.VOICE_EVAL_DATA ?? "../shared/data");
  const { recordings, leftOut } = findSpeakerRecordings(data, options);
  const wanted = options.only || "clean-c6a";
  const [chosen] = inOrder(recordings, wanted.split(","));
  if (chosen === undefined) {
    throw new Error([`there is no recording ${wanted}`, ...leftOut].join("; left out: "));
  }
  const { pcm } = await chosen.load();
  const engine = await startMoonshine();
  try {
    console.log(`${chosen.name}, repeated`);
    const figures = await longSession(pcm, { hours, voices: engine.voices() });
    console.log(figures);
    recordFigures(figures);
  } finally {
    engine.close();
  }
}

/** Measures one after the other; what could not be read is added to `leftOut`. */
async function measureAll(
  chosen: readonly SpeakerRecording[],
  { mdEval, leftOut }: { mdEval: string | undefined; leftOut: string[] },
): Promise<{ rows: SpeakerFigures[]; largest: number }> {
  const rows: SpeakerFigures[] = [];
  let largest = 0;
  if (chosen.length === 0) return { rows, largest };
  await withReader(async (read) => {
    for (const recording of chosen) {
      const measured = await measure(recording, read, mdEval).catch((error: unknown) => {
        leftOut.push(`${recording.name}: ${errorMessage(error)}`);
      });
      if (measured) {
        rows.push(measured.figures);
        largest = Math.max(largest, measured.difference);
        console.error(speakerLine(measured.figures));
      }
      writeJson(rows, leftOut);
    }
  });
  return { rows, largest };
}

/** The recordings whose names begin so, in the order of the beginnings. */
function inOrder(
  recordings: readonly SpeakerRecording[],
  beginnings: readonly string[],
): SpeakerRecording[] {
  const named = beginnings.flatMap((part) =>
    recordings.filter(({ name }) => name.startsWith(part)),
  );
  return [...new Set(named)];
}

async function measure(
  { set, name, load }: SpeakerRecording,
  read: Reader,
  mdEval: string | undefined,
): Promise<{ figures: SpeakerFigures; difference: number }> {
  const { pcm, reference } = await load();
  const run = await read(pcm);
  const seconds = pcm.length / SESSION_RATE;
  const figures = figuresOf({ set, name, seconds }, reference, run);
  const [first, live, final] = [run.first, run.live, run.final].map(namedTurns);
  writeTurns(name, { ref: reference, first, live, final });
  const differences = STAGES.map((stage) => {
    if (!mdEval || figures[stage].scored === 0) return 0;
    const hypothesis = namedTurns(run[stage]);
    const { errorRate } = scoreWithMdEval(mdEval, { reference, hypothesis, seconds });
    return 100 * Math.abs(errorRate - figures[stage].errorRate);
  });
  return { figures, difference: Math.max(...differences) };
}

/** Calls `use` with the way of reading that the options ask for. */
async function withReader(use: (read: Reader) => Promise<void>): Promise<void> {
  const engine = await startMoonshine();
  // Whose language the recogniser does not know still speaks.
  const heard = options.words
    ? engine
    : { ...engine, engine: SPEECH_AS_WORDS, create: async () => new SpeechAsWords() };
  const answers = new RememberedAnswers(engine.voices());
  const fast = { ...engine, createTracker: () => new SessionTracker(answers) };
  const pieceMs = options.stream ? STREAM_MS : CHUNK_MS;
  try {
    await use((pcm) =>
      options.fast ? runTracker(pcm, fast) : runSession(pcm, { pieceMs, engine: heard }),
    );
  } finally {
    engine.close();
  }
}

function how(): string {
  if (options.fast) return "the tracker alone, utterances cut by voice activity (--fast)";
  const pieces = options.stream ? "pieces of 100 ms" : "chunks of 2 s";
  return `read by the worker's session reader in ${pieces}, labels by the session's decisions`;
}

function speakerLine({ name, first, live, final, found, speakers }: SpeakerFigures): string {
  const rates = [first, live, final].map(({ errorRate }) => (100 * errorRate).toFixed(1));
  return `${name}: ${rates.join(", ")} %, ${found} of ${speakers} speakers`;
}

function writeTurns(name: string, turns: Record<string, readonly SpokenTurn[] | undefined>): void {
  if (!options.out) return;
  const folder = join(options.out, "rttm");
  mkdirSync(folder, { recursive: true });
  for (const [stage, own] of Object.entries(turns)) {
    writeFileSync(join(folder, `${name}.${stage}.rttm`), formatRttm(name, own ?? []));
  }
}

function writeJson(rows: readonly SpeakerFigures[], leftOut: readonly string[]): void {
  if (!options.out) return;
  mkdirSync(options.out, { recursive: true });
  const sets = [...new Set(rows.map(({ set }) => set))].map((set) =>
    pooled(
      set,
      rows.filter((row) => row.set === set),
    ),
  );
  const report = { how: how(), recordings: rows, sets, leftOut };
  writeFileSync(join(options.out, "speakers.json"), `${JSON.stringify(report, null, 2)}\n`);
}
