/**
 * `npm run eval:grounding -- [split] [out.json]`: how many planted false sentences the checker of notes refuses,
 * and how many true ones. Both are made from QMSum, where that is there; with `--show` refused true
 * and accepted false ones are printed. Never fails a build.
 */
import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { checkSentence } from "../../workers/text/grounding/check-sentence.ts";
import { recordFigures } from "../support/recorded-figures.ts";
import { SeededRandom } from "../support/seeded-random.ts";
import { type Falsehood, type FalseSentence, falsify } from "./false-sentences.ts";
import { describeMachine } from "./machine.ts";
import { readMeetings } from "./qmsum.ts";
import { textTable } from "./text-table.ts";
import { type SentenceForm, type TrueSentence, trueSentences } from "./true-sentences.ts";

const COUNT = 500;
/** Made from one or two sentences of the transcript, so that it is known what bears them. */
const FORMS: readonly SentenceForm[] = ["quoted", "reported", "shortened", "joined"];
/**
 * Apart from the others: where their evidence lies is known for whole answers only, so that a
 * refusal may be right.
 */
const BY_PEOPLE: readonly SentenceForm[] = ["written by people"];
const FALSEHOODS: readonly Falsehood[] = [
  "number",
  "name",
  "date",
  "negation",
  "speaker",
  "invention",
];

interface Judged<T> {
  sentence: T;
  objection: string | undefined;
  ms: number;
}

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { show: { type: "boolean", default: false } },
});
const [split = "val", file] = positionals;
const meetings = readMeetings(split);
if (meetings.length === 0) {
  console.log(`No QMSum meetings of the split ${split} here: the checker is not measured.`);
} else {
  evaluate();
}

function evaluate(): void {
  const made = sentencesOf(FORMS, COUNT);
  const written = sentencesOf(BY_PEOPLE, COUNT / 5);
  report(made, written);
  if (options.show) show([...made.right, ...written.right], [...made.wrong, ...written.wrong]);
}

interface Sentences {
  right: Judged<TrueSentence>[];
  wrong: Judged<FalseSentence>[];
}

/** So many true sentences, and as many false ones that were made of others. */
function sentencesOf(forms: readonly SentenceForm[], count: number): Sentences {
  const each = count / forms.length;
  const candidates = forms.map(candidatesOf);
  const right = candidates.flatMap((list) => list.slice(0, each)).map(judge);
  const sources = candidates.map((list) => list.slice(each));
  const wrong = FALSEHOODS.flatMap((falsehood, at) =>
    plant(falsehood, Math.floor((count + at) / FALSEHOODS.length), sources),
  ).map(judge);
  return { right, wrong };
}

/** All sentences of a form, mixed, so that those of each meeting are spread. */
function candidatesOf(form: SentenceForm): TrueSentence[] {
  const random = new SeededRandom(1 + [...FORMS, ...BY_PEOPLE].indexOf(form));
  return meetings
    .flatMap((meeting) => trueSentences(meeting, form))
    .map((sentence) => ({ sentence, order: random.next() }))
    .sort((a, b) => a.order - b.order)
    .map(({ sentence }) => sentence);
}

/** So many false sentences of a kind, of the forms in turn as far as they have something to change. */
function plant(
  falsehood: Falsehood,
  count: number,
  sources: readonly (readonly TrueSentence[])[],
): FalseSentence[] {
  const random = new SeededRandom(100 + FALSEHOODS.indexOf(falsehood));
  const longest = Math.max(...sources.map(({ length }) => length));
  const planted: FalseSentence[] = [];
  for (let at = 0; at < longest; at += 1) {
    for (const source of sources) {
      const sentence = source[at];
      if (sentence === undefined || planted.length >= count) continue;
      const made = falsify(sentence, falsehood, { meetings, random });
      if (made !== undefined) planted.push(made);
    }
  }
  return planted;
}

function judge<T extends TrueSentence>(sentence: T): Judged<T> {
  const began = performance.now();
  const verdict = checkSentence(sentence, sentence.speakers);
  const ms = performance.now() - began;
  return {
    sentence,
    objection: verdict.isBorne ? undefined : `${verdict.objection} (${verdict.detail})`,
    ms,
  };
}

function shareRefused(judged: readonly Judged<unknown>[]): string {
  const refused = judged.filter(({ objection }) => objection !== undefined).length;
  return `${refused} of ${judged.length} (${((100 * refused) / Math.max(1, judged.length)).toFixed(1)} %)`;
}

function report(made: Sentences, written: Sentences): void {
  const { right, wrong } = made;
  const times = [...right, ...wrong].map(({ ms }) => ms).sort((a, b) => a - b);
  const p95 = times[Math.floor(times.length * 0.95)] ?? 0;
  const rows = [
    [`QMSum ${split}`, "refused", "mark"],
    ["false sentences", shareRefused(wrong), "≥ 95 %"],
    ...FALSEHOODS.map((falsehood) => [
      `  ${falsehood}`,
      shareRefused(wrong.filter(({ sentence }) => sentence.falsehood === falsehood)),
    ]),
    ["true sentences", shareRefused(right), "≤ 10 %"],
    ...FORMS.map((form) => [
      `  ${form}`,
      shareRefused(right.filter(({ sentence }) => sentence.form === form)),
    ]),
    ["false, of sentences written by people", shareRefused(written.wrong)],
    ["true, written by people", shareRefused(written.right)],
    ["p95 of a check", `${p95.toFixed(2)} ms`],
  ];
  console.log(textTable(rows));
  recordFigures(textTable(rows));
  if (file === undefined) return;
  const machine = describeMachine(resolve(import.meta.dirname, "../.."), undefined);
  writeFileSync(file, JSON.stringify({ machine, rows }, null, 2));
}

function show(
  right: readonly Judged<TrueSentence>[],
  wrong: readonly Judged<FalseSentence>[],
): void {
  for (const { sentence, objection } of right.filter((each) => each.objection !== undefined)) {
    console.log(`\nrefused: ${objection}\n  [${sentence.form}] ${sentence.text}`);
    for (const { speaker, text } of sentence.cited)
      console.log(`  > ${speaker}: ${text.slice(0, 400)}`);
  }
  for (const { sentence } of wrong.filter((each) => each.objection === undefined)) {
    const { falsehood, form, speaker = "", from, text } = sentence;
    console.log(`\naccepted: ${falsehood} [${form}] ${speaker}\n  ${text}\n  of: ${from}`);
    for (const each of sentence.cited)
      console.log(`  > ${each.speaker}: ${each.text.slice(0, 400)}`);
  }
}
