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
    ...worstLoss(report.recordings),
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

function worstLoss(recordings: readonly RecordingQuality[]): string[] {
  const losses = recordings.flatMap(({ name, service }) =>
    service.map(({ chunk_seconds, loss_points }) => ({ name, chunk_seconds, loss_points })),
  );
  const known = losses.filter((loss) => loss.loss_points !== undefined);
  if (known.length === 0) return [];
  const worst = known.reduce((a, b) => ((b.loss_points ?? 0) > (a.loss_points ?? 0) ? b : a));
  const points = worst.loss_points ?? 0;
  const verdict = points <= MARK_LOSS_POINTS ? "within" : "beyond";
  return [
    `largest loss against the bare engine: ${points.toFixed(1)} points (${worst.name}, ` +
      `${worst.chunk_seconds} s), ${verdict} the mark of ${MARK_LOSS_POINTS}`,
  ];
}

function timeTable(recordings: readonly RecordingQuality[]): string {
  const rows = recordings.flatMap((recording) =>
    recording.service.map(({ chunk_seconds, times }) => [
      `${recording.name}, ${chunk_seconds} s`,
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
    recording.service.map(({ chunk_seconds, speakers, diarisation }) => [
      `${recording.name}, ${chunk_seconds} s`,
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
