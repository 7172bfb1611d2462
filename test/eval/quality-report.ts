import { type Delivery, inOrder, nameOf } from "./delivery.ts";
import type { Machine } from "./machine.ts";
import { textTable } from "./text-table.ts";
import type { WordErrors } from "./word-error-rate.ts";
import type { MarkedFigure } from "./word-marks.ts";
import type { ServiceQuality } from "./word-quality.ts";
import type { TimeAgreement } from "./word-times.ts";

/** All that one run measured; written as JSON and printed. */
export interface QualityReport {
  readonly made_at: string;
  readonly machine: Machine;
  readonly recordings: RecordingQuality[];
  /** What was not measured, and why. */
  readonly left_out: string[];
  /** Figures that are held against marks. */
  rows?: readonly MarkedFigure[];
  /** Whether NIST sclite counts the same errors; absent when it is not installed. */
  sclite?: { texts: number; equal: number };
}

export interface RecordingQuality {
  readonly name: string;
  readonly seconds: number;
  readonly reference_words: number;
  readonly speakers?: number;
  readonly service: ServiceQuality[];
}

/** Of clear speech, in all ways of delivery together and from one to another, in points. */
const MARK_RATE = 6;
const MARK_APART = 1;

/** The report as text for a person: words, word times, speakers, and what is missing. */
export function printReport(report: QualityReport): string {
  const { machine } = report;
  return [
    `${machine.cpu}, ${machine.cores} cores, ${machine.memory_gib} GiB, Linux ${machine.kernel}`,
    `project ${machine.project}, Node ${machine.node}, engine ${machine.engine}`,
    "",
    "Word error rate in % (substitutions/deletions/insertions)",
    wordTable(report.recordings),
    ...rateLines(report.recordings),
    "",
    "Share of words whose middle lies within 50 ms, in % (median distance)",
    timeTable(report.recordings),
    "",
    "Speakers",
    speakerTable(report.recordings),
    ...(report.rows ?? []).map(
      ({ figure, value, mark, met }) =>
        `${figure}: ${value.toFixed(1)} (${mark}: ${met ? "met" : "missed"})`,
    ),
    "",
    scliteLine(report),
    ...report.left_out.map((what) => `left out: ${what}`),
  ].join("\n");
}

function wordTable(all: readonly RecordingQuality[]): string {
  const recordings = all.filter(hasWords);
  const ways = deliveries(recordings);
  const header = ["recording", "words", ...ways.map(nameOf)];
  const rows = recordings.map((recording) => [
    recording.name,
    String(recording.reference_words),
    ...ways.map((way) => errorCell(at(recording, way)?.errors)),
  ]);
  return textTable([header, ...rows]);
}

/** A single word of a short recording is many points: the marks are for all of them together. */
function rateLines(recordings: readonly RecordingQuality[]): string[] {
  const rates = deliveries(recordings).flatMap((way) => {
    const errors = recordings.filter(hasWords).flatMap((each) => at(each, way)?.errors ?? []);
    return errors.length === 0 ? [] : [{ way, rate: pooledRate(errors) * 100 }];
  });
  if (rates.length === 0) return [];
  const lines = rates.map(
    ({ way, rate }) => `${nameOf(way)}, all recordings: ${rate.toFixed(1)} %`,
  );
  const values = rates.map(({ rate }) => rate);
  const apart = Math.max(...values) - Math.min(...values);
  const isMet = Math.max(...values) <= MARK_RATE && apart <= MARK_APART;
  const marks = `at most ${MARK_RATE} %, ${MARK_APART} point apart`;
  return [
    ...lines,
    `${apart.toFixed(1)} points apart: ${isMet ? "within" : "beyond"} the marks of ${marks}`,
  ];
}

/** Whether it is known what was said. */
function hasWords({ reference_words }: RecordingQuality): boolean {
  return reference_words > 0;
}

function pooledRate(all: readonly WordErrors[]): number {
  const sum = (count: (errors: WordErrors) => number) =>
    all.reduce((total, errors) => total + count(errors), 0);
  const wrong = sum((errors) => errors.substitutions + errors.deletions + errors.insertions);
  return (
    wrong /
    Math.max(
      1,
      sum((errors) => errors.reference_words),
    )
  );
}

/** One row for deliveries that give the same cells. */
function rowsByDelivery(
  { name, service }: RecordingQuality,
  cells: (quality: ServiceQuality) => string[],
): string[][] {
  const alike = new Map<string, Delivery[]>();
  for (const quality of service) {
    const key = JSON.stringify(cells(quality));
    alike.set(key, [...(alike.get(key) ?? []), quality.delivery]);
  }
  return [...alike].map(([key, ways]) => [
    `${name}, ${ways.map(nameOf).join("/")}`,
    ...(JSON.parse(key) as string[]),
  ]);
}

function timeTable(recordings: readonly RecordingQuality[]): string {
  const rows = recordings.flatMap((recording) =>
    rowsByDelivery(recording, ({ times }) => [timeCell(times.truth)]),
  );
  const header = ["", "known times"];
  return textTable([header, ...rows]);
}

function speakerTable(recordings: readonly RecordingQuality[]): string {
  const rows = recordings.flatMap((recording) =>
    rowsByDelivery(recording, ({ speakers, diarisation }) => [
      String(speakers),
      recording.speakers === undefined ? "" : String(recording.speakers),
      diarisation === undefined ? "" : percent(diarisation.errorRate),
    ]),
  );
  return textTable([["", "found", "true", "diarisation error %"], ...rows]);
}

function scliteLine({ sclite }: QualityReport): string {
  if (sclite === undefined)
    return "NIST sclite is not installed (Debian: sctk): scores not checked";
  return `NIST sclite counts the same errors in ${sclite.equal} of ${sclite.texts} texts`;
}

function deliveries(recordings: readonly RecordingQuality[]): Delivery[] {
  return inOrder(recordings.flatMap(({ service }) => service.map((run) => run.delivery)));
}

function at(recording: RecordingQuality, delivery: Delivery): ServiceQuality | undefined {
  return recording.service.find((run) => run.delivery === delivery);
}

function errorCell(errors: WordErrors | undefined): string {
  if (errors === undefined) return "-";
  const { rate, substitutions, deletions, insertions } = errors;
  return `${percent(rate)} (${substitutions}/${deletions}/${insertions})`;
}

function timeCell(times: TimeAgreement | undefined): string {
  return times === undefined ? "-" : `${percent(times.within)} (${times.median_ms} ms)`;
}

function percent(share: number): string {
  return (share * 100).toFixed(1);
}
