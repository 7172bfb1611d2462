/**
 * `npm run eval:voices`: whom voices of one recording are suggested to be in others, through the
 * worker's own prints and the service's threshold. Human voices are in VOICE_EVAL_DATA (voices/;
 * default ../shared/data beside the project), by the reference, so that the tracker's mistakes are not
 * counted; without them nothing is measured. Ends with 0.
 */
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { SUGGESTED_FROM } from "../../src/conversations/voices/suggester.ts";
import { startMoonshine } from "../support/moonshine-engine.ts";
import { recordFigures } from "../support/recorded-figures.ts";
import { textTable } from "./text-table.ts";
import {
  equalErrorRate,
  type Occasion,
  occasionsIn,
  strangersNamed,
  type Tally,
  tryAll,
} from "./voice-trials.ts";

const PROJECT = resolve(import.meta.dirname, "../..");
const HELP = `npm run eval:voices -- [options]
  --threshold N  another likelihood than the service's from which a voice is suggested
  --persons IDS  these alone, with commas: bg_m,cs_m,el_f,ro_f is one half, cs_f,da_m,fr_m,uk_f the other
Environment: VOICE_EVAL_DATA, folder with voices/ (default: ../shared/data)`;

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
    persons: { type: "string" },
    help: { type: "boolean", default: false },
  },
});
const data = process.env.VOICE_EVAL_DATA ?? resolve(PROJECT, "../shared/data");

if (options.help) console.log(HELP);
else await evaluate(Number(options.threshold));

async function evaluate(threshold: number): Promise<void> {
  const engine = await startMoonshine();
  const heard = await occasionsIn(data, engine.voices()).finally(() => engine.close());
  const chosen = options.persons?.split(",");
  const occasions = heard.filter(({ person }) => chosen?.includes(person) ?? true);
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
    "of one other",
    "EER",
  ];
  const rows = PAIRS.map(([from, to]) => rowOf(occasions, from, to, threshold));
  console.log(textTable([head, ...rows]));
  recordFigures(textTable([head, ...rows]));
  console.log(
    "\nIn per cent. right, wrong, absent: of persons who are remembered. of others: of the same voices where all but their person are remembered, so that any suggestion is wrong; of one other: where one other person alone is. EER: pairs of prints.",
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
    strangersNamed(occasions, from, to, threshold).toFixed(1),
    equalErrorRate(occasions, from, to).toFixed(1),
  ];
}
