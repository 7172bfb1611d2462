import { type Parts, pooled, type SpeakerFigures } from "./diarisation-figures.ts";
import { textTable } from "./text-table.ts";

const ERRORS = ["recording", "first", "live", "final", "one speaker", "floor"];
const NEW_VOICES = [
  ...[
    "recording",
    "voices",
    "told p50",
    "p95",
    "in a final p50",
    "p95",
    "soonest final p50",
    "p95",
  ],
  ...["of nobody", "interim right", "unknown", "wrong"],
];
const LABELS = [
  ...["recording", "speakers live, final", "counted", "changed live", "final", "any"],
  ...[
    "named later",
    "time changed",
    "delay median",
    "90 %",
    "never",
    "tracker s/h live",
    "final",
    "slowest ms",
  ],
  ...["state kB", "all s/h"],
];

/** Both tables, by recording and pooled by set. */
export function speakerReport(rows: readonly SpeakerFigures[], how: string): string {
  const sets = [...new Set(rows.map((row) => row.set))];
  const lines = sets.flatMap((set) => {
    const own = rows.filter((row) => row.set === set);
    return [...own, { ...pooled(set, own), name: `= ${set} (${own.length})` }];
  });
  return [
    `Speakers, ${how}.`,
    "",
    "Diarisation error rate in % = missed + false alarm + confusion (collar 0.25 s, overlap",
    "counted; what is shown as unknown counts as missed), as first shown, at the end of live, after",
    "the final pass; had all been called one speaker; had all labels been right (floor).",
    "",
    textTable([ERRORS, ...lines.map(errorCells)]),
    "",
    "Labels found of true; recordings counted right (off by more than one); % of segments whose name",
    "changed after it was shown, and % of their time; s from the start of a new voice to its own label; processor time.",
    "",
    textTable([LABELS, ...lines.map(labelCells)]),
    "",
    "New voices: s from when 1.5 s of a voice were heard until it is told by its own label, in an interim result or",
    "a final; in a final; and until there was a final with its speech at all. Labels that were shown in finals and",
    "are nobody's. % of interim results, one for each piece of sound, that have the right label, none, or another.",
    "",
    textTable([NEW_VOICES, ...lines.map(newVoiceCells)]),
  ].join("\n");
}

function errorCells(row: SpeakerFigures): string[] {
  const { name, first, live, final, oneSpeaker, floor } = row;
  return [name, ...[first, live, final].map(withParts), rate(oneSpeaker), withParts(floor)];
}

function labelCells(row: SpeakerFigures): string[] {
  const { segments, seconds, delays } = row;
  const share = (count: number) => percent(segments > 0 ? count / segments : 0);
  const perHour = (milliseconds: number) => ((3.6 * milliseconds) / seconds).toFixed(1);
  return [
    row.name,
    `${row.foundLive}, ${row.found} of ${row.speakers}`,
    `${row.countedRight} of ${row.recordings} (${row.farOff})`,
    ...[row.changedLive, row.changedFinal, row.changed, row.namedLater].map(share),
    percent(row.changedSeconds / Math.max(1, row.shownSeconds)),
    ...[0.5, 0.9].map((quantile) => quantileOf(delays, quantile)?.toFixed(1) ?? "-"),
    `${row.neverNamed}`,
    ...[row.onlineMs, row.finalMs].map(perHour),
    row.slowestMs.toFixed(0),
    (row.checkpointBytes / 1024).toFixed(0),
    row.computeMs === undefined ? "-" : perHour(row.computeMs),
  ];
}

function newVoiceCells({ name, newVoices }: SpeakerFigures): string[] {
  const { waits, told, finals, falseLabels } = newVoices;
  const seconds = [told, waits, finals].flatMap((values) =>
    [0.5, 0.95].map((quantile) => quantileOf(values, quantile)?.toFixed(1) ?? "-"),
  );
  const { right, unknown, wrong } = newVoices.interims;
  const all = right + unknown + wrong;
  const shares = [right, unknown, wrong].map((count) => (all > 0 ? percent(count / all) : "-"));
  return [name, `${waits.length}`, ...seconds, `${falseLabels}`, ...shares];
}

function withParts(parts: Parts): string {
  const { scored, missed, falseAlarm, confusion } = parts;
  if (scored === 0) return "-";
  const shares = [missed, falseAlarm, confusion].map((seconds) => percent(seconds / scored));
  return `${rate(parts)} = ${shares.join(" + ")}`;
}

function rate({ errorRate }: Parts): string {
  return percent(errorRate);
}

function percent(share: number): string {
  return (100 * share).toFixed(1);
}

function quantileOf(values: readonly number[], quantile: number): number | undefined {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.ceil(quantile * sorted.length) - 1];
}
