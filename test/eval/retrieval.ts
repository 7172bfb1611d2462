// Questions about meetings: `node deploy/run.mjs test/eval/retrieval.ts [split]`. Never fails a build.
import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { answerQuestion } from "../../workers/text/retrieval/answer.ts";
import { search } from "../../workers/text/retrieval/search.ts";
import { finish } from "../support/finish-steps.ts";
import { recordFigures } from "../support/recorded-figures.ts";
import { describeMachine } from "./machine.ts";
import { type Meeting, type MeetingQuery, readMeetings } from "./qmsum.ts";
import { rouge } from "./rouge.ts";
import { textTable } from "./text-table.ts";

const BUDGETS = [512, 1_024, 2_048] as const;
/** What a reader opens before giving up. */
const OPENED = 3;

interface Scored {
  recall: number[];
  rouge: [number, number, number];
  words: number;
  /** Share of cited turns that are evidence; undefined when the answer cites none. */
  precision: number | undefined;
  /** True when one of the first three citations is evidence. */
  isFound: boolean;
  ms: number;
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Share of the gold words among the first words of the ranking. */
function evidenceRecall(meeting: Meeting, { query, gold }: MeetingQuery): number[] {
  const found = finish(search({ query, nowMs: 0, conversations: [meeting.conversation] }));
  const isGold = (index: number): boolean =>
    gold.has(Number(found.sentences[index]?.passage.segmentId));
  const wanted = found.sentences.reduce(
    (sum, { length }, index) => sum + (isGold(index) ? length : 0),
    0,
  );
  const order = found.units
    .map((unit, index) => ({ unit, score: found.scores[index] ?? 0 }))
    .sort((a, b) => b.score - a.score || a.unit.first - b.unit.first);
  return BUDGETS.map((budget) => {
    let left: number = budget;
    let hit = 0;
    for (const { unit } of order) {
      for (let index = unit.first; index < unit.end && left > 0; index += 1) {
        const words = Math.min(left, found.sentences[index]?.length ?? 0);
        if (isGold(index)) hit += words;
        left -= words;
      }
    }
    return hit / Math.max(1, wanted);
  });
}

function score(meeting: Meeting, query: MeetingQuery): Scored {
  const recall = evidenceRecall(meeting, query);
  const conversations = [meeting.conversation];
  const began = performance.now();
  const answer = finish(
    answerQuestion({ query: query.query, nowMs: 0, across: false, conversations }),
  );
  const ms = performance.now() - began;
  const { one, two, longest } = rouge(answer.text, query.answer);
  const isHit = answer.citations.map(({ segmentId }) => query.gold.has(Number(segmentId)));
  const cited = isHit.length;
  return {
    recall,
    rouge: [one, two, longest],
    words: answer.text.split(/\s+/).length,
    precision: cited === 0 ? undefined : isHit.filter(Boolean).length / cited,
    isFound: isHit.slice(0, OPENED).some(Boolean),
    ms,
  };
}

/** Meetings of another kind: what is asked there was never said here. */
function kindOf({ name }: Meeting): string {
  if (/^(ES|IS|TS)/.test(name)) return "product";
  return /^B/.test(name) ? "academic" : "committee";
}

function refusals(meetings: readonly Meeting[]): { absent: number; asked: number } {
  let absent = 0;
  let asked = 0;
  for (const [index, meeting] of meetings.entries()) {
    const others = meetings.filter((other) => kindOf(other) !== kindOf(meeting));
    for (let at = 0; at < 6 && others.length > 0; at += 1) {
      const other = others[(index * 7 + at * 3) % others.length];
      const query = other?.queries[at % other.queries.length]?.query;
      if (query === undefined) continue;
      const found = finish(search({ query, nowMs: 0, conversations: [meeting.conversation] }));
      // "What was discussed?" can be answered everywhere.
      if (found.terms.length === 0) continue;
      asked += 1;
      const conversations = [meeting.conversation];
      const answer = finish(answerQuestion({ query, nowMs: 0, across: false, conversations }));
      if (answer.citations.length === 0) absent += 1;
    }
  }
  return { absent, asked };
}

/** p95 in milliseconds of a question to a conversation of about twenty thousand words. */
function longSession(meetings: readonly Meeting[]): number {
  const passages: Meeting["conversation"]["passages"] = [];
  let words = 0;
  for (const { conversation } of meetings) {
    for (const passage of conversation.passages) {
      if (words >= 20_000) break;
      passages.push({ ...passage, segmentId: String(passages.length) });
      words += passage.text.split(" ").length;
    }
  }
  const first = meetings[0];
  if (first === undefined) return 0;
  const conversations = [{ ...first.conversation, passages }];
  const took = meetings
    .flatMap(({ queries }) => queries)
    .slice(0, 100)
    .map(({ query }) => {
      const began = performance.now();
      finish(answerQuestion({ query, nowMs: 0, across: false, conversations }));
      return performance.now() - began;
    })
    .sort((a, b) => a - b);
  return took[Math.floor(took.length * 0.95)] ?? 0;
}

const split = process.argv[2] ?? "val";
const meetings = readMeetings(split);
if (meetings.length === 0) {
  console.log(`No QMSum meetings of the split ${split} here: retrieval is not measured.`);
  process.exit(0);
}
const byMeeting = meetings
  .filter(({ queries }) => queries.length > 0)
  .map((meeting) => meeting.queries.map((query) => score(meeting, query)));
const macro = (read: (scored: Scored) => number): number =>
  mean(byMeeting.map((scores) => mean(scores.map(read))));
const all = byMeeting.flat();
const refused = all.filter(({ precision }) => precision === undefined).length;
const { absent, asked } = refusals(meetings);
const result = {
  split,
  queries: all.length,
  recall: Object.fromEntries(
    BUDGETS.map((budget, at) => [budget, macro(({ recall }) => recall[at] ?? 0)]),
  ),
  rouge: [0, 1, 2].map((at) => 100 * mean(all.map((scored) => scored.rouge[at] ?? 0))),
  words: mean(all.map(({ words }) => words)),
  citationPrecision: mean(
    all.flatMap(({ precision }) => (precision === undefined ? [] : [precision])),
  ),
  foundInFirst: all.filter(({ isFound }) => isFound).length / all.length,
  refusedAnswerable: refused / all.length,
  refusedAbsent: absent / Math.max(1, asked),
  p95LongSessionMs: longSession(meetings),
};
const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
const table = textTable([
  [`QMSum ${split}, ${all.length} questions`, "", "mark"],
  [
    "evidence recall 512/1024/2048",
    Object.values(result.recall)
      .map((r) => r.toFixed(3))
      .join(" "),
    ".40 .56 .75",
  ],
  ["ROUGE-1/2/Lsum", result.rouge.map((r) => r.toFixed(1)).join(" "), "28 7.5 24.5"],
  ["words per answer", result.words.toFixed(0), ""],
  ["citation precision", result.citationPrecision.toFixed(3), "≥ .45"],
  [`evidence in the first ${OPENED} citations`, percent(result.foundInFirst), ""],
  ["refused though answerable", percent(result.refusedAnswerable), "≤ 10 %"],
  ["refused, never said", percent(result.refusedAbsent), "≥ 90 %"],
  ["p95, 20,000 words", `${result.p95LongSessionMs.toFixed(0)} ms`, "< 150 ms"],
]);
console.log(table);
recordFigures(table);
const file = process.argv[3];
if (file !== undefined) {
  writeFileSync(
    file,
    JSON.stringify(
      { machine: describeMachine(resolve(import.meta.dirname, "../.."), undefined), ...result },
      null,
      2,
    ),
  );
}
