/**
 * `npm run eval:voices`: whom voices of one recording are suggested to be in others, through the
 * worker's own prints and the service's threshold. Human voices are in VOICE_EVAL_DATA (voices/;
 * default ../shared/data beside the project), by the reference, so that the tracker's mistakes are not
 * counted; without them nothing is measured. Ends with 0.
 */
import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { SUGGESTED_FROM } from "../../src/features/voices/likelihood.ts";
import { encodeModel } from "../../workers/voices/voice-model.ts";
import { textTable } from "./text-table.ts";
import { trainingVoices } from "./voice-material.ts";
import { trainVoices } from "./voice-training.ts";
import { equalErrorRate, type Occasion, occasionsIn, type Tally, tryAll } from "./voice-trials.ts";

const PROJECT = resolve(import.meta.dirname, "../..");
const MODEL = resolve(PROJECT, "workers/voices/voice-model.bin");
const HELP = `npm run eval:voices -- [options]
  --threshold N  another likelihood than the service's from which a voice is suggested
  --train        estimates the model of voices anew from ami/, librivox/, flite and espeak-ng
Environment: VOICE_EVAL_DATA, folder with voices/, ami/ and librivox/ (default: ../shared/data)`;

const PAIRS = [
  ["clean", "clean"],
  ["clean", "room"],
  ["clean", "phone"],
  ["room", "room"],
  ["phone", "phone"],
  ["room", "phone"],
] as const;

const { values: options } = parseArgs({
  options: {
    threshold: { type: "string", default: String(SUGGESTED_FROM) },
    train: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});
const data = process.env.VOICE_EVAL_DATA ?? resolve(PROJECT, "../shared/data");

if (options.help) console.log(HELP);
else if (options.train) await train();
else evaluate(Number(options.threshold));

async function train(): Promise<void> {
  const { voices, leftOut } = await trainingVoices(data);
  for (const each of leftOut) console.log(`left out: ${each}`);
  const model = trainVoices(voices);
  writeFileSync(MODEL, encodeModel(model));
  console.log(`${voices.length} voices: ${voices.map(({ name }) => name).join(", ")}`);
  console.log(model.calibration);
}

function evaluate(threshold: number): void {
  const occasions = occasionsIn(data);
  if (occasions.length === 0) {
    console.log("left out: no voices/*/*.flac in VOICE_EVAL_DATA, or nothing that decodes FLAC");
    return;
  }
  const persons = new Set(occasions.map(({ person }) => person)).size;
  console.log(`${persons} persons, ${occasions.length} prints, suggested from ${threshold}\n`);
  const head = [
    "remembered, heard",
    "labels",
    "right",
    "wrong",
    "absent",
    "of others: wrong",
    "EER",
  ];
  const rows = PAIRS.map(([from, to]) => rowOf(occasions, from, to, threshold));
  console.log(textTable([head, ...rows]));
  console.log(
    "\nIn per cent. right, wrong, absent: of persons who are remembered. of others: of the same voices where all but their person are remembered, so that any suggestion is wrong. EER: pairs of prints.",
  );
}

function rowOf(
  occasions: readonly Occasion[],
  from: string,
  to: string,
  threshold: number,
): string[] {
  const { known, unknown } = tryAll(occasions, from, to, threshold);
  const count = ({ right, wrong, absent }: Tally) => right + wrong + absent;
  const share = (part: number, whole: Tally) => ((100 * part) / count(whole)).toFixed(0);
  return [
    `${from}, ${to}`,
    String(count(known)),
    share(known.right, known),
    share(known.wrong, known),
    share(known.absent, known),
    share(unknown.wrong, unknown),
    equalErrorRate(occasions, from, to).toFixed(1),
  ];
}
