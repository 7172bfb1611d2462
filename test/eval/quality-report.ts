import type { Machine } from "./machine.ts";
import { textTable } from "./text-table.ts";
import type { WordErrors } from "./word-error-rate.ts";
import type { ServiceQuality } from "./word-quality.ts";
import type { TimeAgreement } from "./word-times.ts";

/** All that one run measured; written as JSON and printed. */
export interface QualityReport {
  readonly made_at: string;
  readonly machine: Machine;
  readonly engine_settings: readonly string[];
  readonly recordings: RecordingQuality[];
  /** What was not measured, and why. */
  readonly left_out: string[];
  /** Whether NIST sclite counts the same errors; absent when it is not installed. */
  sclite?: { texts: number; equal: number };
}

export interface RecordingQuality {
  readonly name: string;
  readonly seconds: number;
  readonly reference_words: number;
  readonly speakers?: number;
  readonly bare?: WordErrors;
  readonly service: ServiceQuality[];
}

const MARK_LOSS_POINTS = 1;

/** The report as text for a person: words, word times, speakers, and what is missing. */
export function printReport(report: QualityReport): string {
  const { machine } = report;
  return [
    `${machine.cpu}, ${machine.cores} cores, ${machine.memory_gib} GiB, Linux ${machine.kernel}`,
    `project ${machine.project}, Node ${machine.node}, engine ${machine.engine}`,
    "",
    "Word error rate in % (substitutions/deletions/insertions); the bare engine reads the unbroken file",
    wordTable(report.recordings),
    ...lossLines(report.recordings),
    "",
    "Share of words whose middle lies within 50 ms, in % (median distance)",
    timeTable(report.recordings),
    "",
    "Speakers",
    speakerTable(report.recordings),
    "",
    scliteLine(report),
    ...report.left_out.map((what) => `left out: ${what}`),
  ].join("\n");
}

function wordTable(recordings: readonly RecordingQuality[]): string {
  const sizes = chunkSizes(recordings);
  const header = ["recording", "words", "bare", ...sizes.map((size) => `${size} s`)];
  const rows = recordings.map((recording) => [
    recording.name,
    String(recording.reference_words),
    errorCell(recording.bare),
    ...sizes.map((size) => errorCell(at(recording, size)?.errors)),
  ]);
  return textTable([header, ...rows]);
}

/** A single word of a short recording is many points: the mark is for all of them together. */
function lossLines(recordings: readonly RecordingQuality[]): string[] {
  return chunkSizes(recordings).flatMap((size) => {
    const pairs = recordings.flatMap((recording) => {
      const service = at(recording, size)?.errors;
      return recording.bare && service ? [{ bare: recording.bare, service }] : [];
    });
    if (pairs.length === 0) return [];
    const rate = (side: "bare" | "service") => pooledRate(pairs.map((pair) => pair[side]));
    const points = (rate("service") - rate("bare")) * 100;
    const verdict = points <= MARK_LOSS_POINTS ? "within" : "beyond";
    const all = `${percent(rate("service"))} against ${percent(rate("bare"))}`;
    return [
      `chunks of ${size} s, all recordings: ${all}, loss ${points.toFixed(1)} points, ` +
        `${verdict} the mark of ${MARK_LOSS_POINTS}`,
    ];
  });
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

/** One row for chunk sizes that give the same cells. */
function rowsBySize(
  { name, service }: RecordingQuality,
  cells: (quality: ServiceQuality) => string[],
): string[][] {
  const sizes = new Map<string, number[]>();
  for (const quality of service) {
    const key = JSON.stringify(cells(quality));
    sizes.set(key, [...(sizes.get(key) ?? []), quality.chunk_seconds]);
  }
  return [...sizes].map(([key, of]) => [
    `${name}, ${of.join("/")} s`,
    ...(JSON.parse(key) as string[]),
  ]);
}

function timeTable(recordings: readonly RecordingQuality[]): string {
  const rows = recordings.flatMap((recording) =>
    rowsBySize(recording, ({ times }) => [
      timeCell(times.bare_clock),
      timeCell(times.bare),
      timeCell(times.truth),
    ]),
  );
  const header = ["", "bare engine, every frame", "bare engine, silence cut", "known times"];
  return textTable([header, ...rows]);
}

function speakerTable(recordings: readonly RecordingQuality[]): string {
  const rows = recordings.flatMap((recording) =>
    rowsBySize(recording, ({ speakers, diarisation }) => [
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

function chunkSizes(recordings: readonly RecordingQuality[]): number[] {
  const sizes = recordings.flatMap(({ service }) => service.map((run) => run.chunk_seconds));
  return [...new Set(sizes)].sort((a, b) => a - b);
}

function at(recording: RecordingQuality, size: number): ServiceQuality | undefined {
  return recording.service.find((run) => run.chunk_seconds === size);
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
