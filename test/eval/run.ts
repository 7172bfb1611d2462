/**
 * `npm run eval`: measures what the whole service makes of recordings; prints a table and writes out/eval.json. Ends with 0 whatever it finds: figures are for
 * people, not for a build. `--help` shows the options.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { durationSeconds } from "../../src/cli/device/wave-file.ts";
import { recordFigures } from "../support/recorded-figures.ts";
import { nameOf, parseDelivery } from "./delivery.ts";
import { SOUND_FORMATS } from "./encoded-sound.ts";
import { describeMachine } from "./machine.ts";
import { printReport, type QualityReport } from "./quality-report.ts";
import { loadConversation, loadReadSentences, loadTurns, type Recording } from "./recordings.ts";
import { RunningService } from "./running-service.ts";
import { scoreWithSclite, type TextPair } from "./sclite.ts";
import { findScorer } from "./sctk.ts";
import { ServiceReader } from "./service-reading.ts";
import { wordErrors } from "./word-error-rate.ts";
import { wordMarks } from "./word-marks.ts";
import { measureService } from "./word-quality.ts";

const PROJECT = resolve(import.meta.dirname, "../..");
const HELP = `npm run eval -- [options]
  --deliver 0.5,2,5,30,stream,…   chunk lengths to upload in seconds, a live stream, or formats of
                        whole files: ${SOUND_FORMATS.join(", ")} (default: all of these)
  --only TEXT[,TEXT]    only recordings whose name contains one of these
  --out DIR             where eval.json goes (default: out)
Environment: VOICE_EVAL_DATA, folder with librivox/ and voices/ (default: ../shared/data)`;

const { values: options } = parseArgs({
  options: {
    deliver: { type: "string", default: `0.5,2,5,30,stream,${SOUND_FORMATS.join(",")}` },
    only: { type: "string", default: "" },
    out: { type: "string", default: join(PROJECT, "out") },
    help: { type: "boolean", default: false },
  },
});

if (options.help) console.log(HELP);
else await evaluate();

async function evaluate(): Promise<void> {
  const scorer = findScorer("sclite");
  const report: QualityReport = {
    made_at: new Date().toISOString(),
    machine: describeMachine(PROJECT, scorer),
    recordings: [],
    left_out: [],
  };
  const recordings = chooseRecordings(report.left_out);
  for (const recording of recordings) {
    report.recordings.push({
      name: recording.name,
      seconds: durationSeconds(recording.audio),
      reference_words: recording.reference.length,
      speakers: recording.turns && new Set(recording.turns.map(({ speaker }) => speaker)).size,
      service: [],
    });
  }
  await measureWholeService(report, recordings);
  report.rows = wordMarks(report.recordings.filter(({ name }) => name.startsWith("librivox")));
  if (scorer) report.sclite = checkScorer(scorer, report, recordings);
  mkdirSync(options.out, { recursive: true });
  const file = join(options.out, "eval.json");
  writeFileSync(file, `${JSON.stringify(report, null, 2)}\n`);
  console.log(`${printReport(report)}\n\nwritten to ${file}`);
  recordFigures(printReport(report));
}

function chooseRecordings(leftOut: string[]): Recording[] {
  const data = resolve(PROJECT, process.env.VOICE_EVAL_DATA ?? "../shared/data");
  const sentences = loadReadSentences(join(data, "librivox"));
  if (sentences.length === 0) {
    leftOut.push("read sentences (no librivox/transcripts.txt in VOICE_EVAL_DATA)");
  }
  const turns = loadTurns(join(data, "voices"));
  if (turns.length === 0) leftOut.push("human voices in turns (no voices/, or nothing reads FLAC)");
  return [loadConversation(join(PROJECT, "deploy/demo")), ...sentences, ...turns].filter(
    ({ name }) => options.only.split(",").some((part) => name.includes(part)),
  );
}

async function measureWholeService(
  report: QualityReport,
  recordings: readonly Recording[],
): Promise<void> {
  note("starting the service: npm run up");
  let service: RunningService;
  try {
    service = await RunningService.start(PROJECT);
  } catch (error) {
    report.left_out.push(`the whole service: ${messageOf(error)}`);
    return;
  }
  try {
    const reader = await ServiceReader.connect(service.address);
    for (const delivery of options.deliver.split(",").map(parseDelivery)) {
      for (const [i, recording] of recordings.entries()) {
        const what = `${recording.name}, ${nameOf(delivery)}`;
        note(`service: ${what}`);
        try {
          const quality = await measureService(reader, recording, delivery);
          report.recordings[i]?.service.push(quality);
        } catch (error) {
          report.left_out.push(`${what}: ${messageOf(error)}`);
        }
      }
    }
  } catch (error) {
    report.left_out.push(`the rest of the service's readings: ${messageOf(error)}`);
  } finally {
    await service.stop();
  }
}

/** Scores the very texts of this run with NIST's program too. */
function checkScorer(
  program: string,
  report: QualityReport,
  recordings: readonly Recording[],
): QualityReport["sclite"] {
  const pairs: TextPair[] = recordings.flatMap((recording, i) => {
    const texts = report.recordings[i]?.service.map(({ words }) => words) ?? [];
    const { reference } = recording;
    if (reference.length === 0) return [];
    return texts.map((hypothesis) => ({ reference, hypothesis }));
  });
  try {
    const counts = pairs.length > 0 ? scoreWithSclite(program, pairs) : [];
    const equal = counts.filter((count, i) => {
      const ours = wordErrors(pairs[i]?.reference ?? [], pairs[i]?.hypothesis ?? []);
      return (
        count.substitutions === ours.substitutions &&
        count.deletions === ours.deletions &&
        count.insertions === ours.insertions
      );
    });
    return { texts: counts.length, equal: equal.length };
  } catch (error) {
    report.left_out.push(`the check with sclite: ${messageOf(error)}`);
    return undefined;
  }
}

function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.trim().split("\n").slice(-3).join(" | ");
}

function note(text: string): void {
  process.stderr.write(`${text}\n`);
}
