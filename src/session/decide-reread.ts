import { AppError } from "../base/errors.ts";
import type {
  CancelRedoCommand,
  RecognisedSegment,
  RedoCommand,
  RedoProgressCommand,
  RereadCommand,
} from "./command.ts";
import { complete, isOver, isUnreadable } from "./complete.ts";
import type { TranscriptReplaced } from "./event.ts";
import { isRedacted } from "./redaction.ts";
import { segmentId } from "./segment-id.ts";
import { firstFrom, type SegmentMark } from "./segments.ts";
import { labelName, standing, UNKNOWN_SPEAKER } from "./speakers.ts";
import type { Gap } from "./timeline.ts";
import type { Turn } from "./turn.ts";

/** Asks for the whole session to be read again; its text stands until then. */
export function decideRedo(turn: Turn, command: RedoCommand): { attempt: number } {
  const { state } = turn;
  if (state.redo !== undefined || !isOver(state.phase)) {
    throw new AppError("job_active", "This job is queued or running already.");
  }
  const attempt = state.attempts + 1;
  const { byUserId } = command;
  turn.emit({ type: "RedoRequested", jobId: state.jobId, attempt, byUserId });
  // Nothing to read: the new reading is as empty as the old one.
  if (state.timeline.position === 0) complete(turn);
  return { attempt };
}

/** The reading that runs may still answer: without its redo nothing takes its words. */
export function decideCancelRedo(turn: Turn, { byUserId }: CancelRedoCommand): void {
  const { redo, jobId } = turn.state;
  if (redo === undefined) {
    throw new AppError(
      "conflict",
      "No repeated transcription is under way, and the first one cannot be cancelled.",
    );
  }
  turn.emit({ type: "RedoCancelled", jobId, attempt: redo.attempt, byUserId });
}

export function decideRedoProgress(turn: Turn, command: RedoProgressCommand): void {
  const { redo, jobId } = turn.state;
  if (redo?.attempt !== command.attempt) return;
  turn.write({ type: "Progress", jobId, progress: Math.min(0.99, command.progress) });
}

/**
 * Replaces the segments that start in [from, to) by those of a second reading.
 * Its clusters below `knownClusters` mean the same voices as in the first one;
 * the others get the label they overlap most with, or the next new one.
 */
export function decideReread(turn: Turn, command: RereadCommand): void {
  const { state } = turn;
  const filled = state.timeline.gaps.filter(
    (gap) => gap.chunkId !== undefined && command.sequences.includes(gap.sequence),
  );
  if (command.whole ? state.redo?.attempt !== command.attempt : filled.length === 0) return;
  const known = command.whole ? 0 : Math.min(...filled.map((gap) => gap.knownClusters));
  const removed = state.segments.slice(
    firstFrom(state.segments, command.from),
    firstFrom(state.segments, command.to),
  );
  replace(turn, command, filled, removed, known);
  for (const { chunkId, sequence } of filled) {
    if (chunkId !== undefined) turn.emit({ type: "ChunkTranscribed", chunkId, sequence });
  }
  // Late audio may be the first that can be read.
  const isMended = state.phase === "failed" && !isUnreadable(state);
  if (command.whole || isMended) complete(turn);
}

function replace(
  turn: Turn,
  command: RereadCommand,
  filled: readonly Gap[],
  removed: readonly SegmentMark[],
  known: number,
): void {
  const labels = mapClusters(turn, command.segments, removed, known);
  const added = command.segments.map((segment) => {
    const label = labels.get(segment.cluster) ?? UNKNOWN_SPEAKER;
    return addSegment(turn, segment, command.attempt, label, known);
  });
  turn.emit({
    type: "TranscriptReplaced",
    jobId: turn.state.jobId,
    attempt: command.attempt,
    from: command.from,
    to: Math.min(command.to, turn.state.timeline.position),
    removed: removed.map((mark) => ({ segmentId: mark.id, start: mark.start })),
    added,
    sequences: filled.map((gap) => gap.sequence),
  });
}

function addSegment(
  turn: Turn,
  segment: RecognisedSegment,
  attempt: number,
  label: string,
  known: number,
): TranscriptReplaced["added"][number] {
  const { start, end, words, confidence } = segment;
  const id = segmentId(turn.state.sessionId, attempt, start);
  const redacted = isRedacted(turn.state, { start, end, label });
  turn.write({
    type: "SegmentText",
    segmentId: id,
    attempt,
    start,
    end,
    label,
    words,
    confidence,
    redacted,
  });
  const cluster = segment.cluster < known ? segment.cluster : -1;
  const mark = { segmentId: id, start, end, label, cluster };
  return redacted ? { ...mark, redacted } : mark;
}

function mapClusters(
  turn: Turn,
  segments: readonly RecognisedSegment[],
  removed: readonly SegmentMark[],
  known: number,
): Map<number, string> {
  const { speakers } = turn.state;
  const labels = new Map<number, string>();
  for (const { cluster } of segments) {
    const index = cluster < known ? speakers.clusters[cluster] : undefined;
    if (index !== undefined) labels.set(cluster, labelName(standing(speakers, index)));
  }
  assignByOverlap(labels, segments, removed);
  let fresh = speakers.labels.length;
  for (const { cluster } of segments) {
    if (cluster >= 0 && !labels.has(cluster)) labels.set(cluster, labelName(fresh++));
  }
  return labels;
}

/** Clusters without a label get the one they overlap most with, each label once. */
function assignByOverlap(
  labels: Map<number, string>,
  segments: readonly RecognisedSegment[],
  removed: readonly SegmentMark[],
): void {
  const shared = new Map<string, { cluster: number; label: string; samples: number }>();
  for (const segment of segments) {
    if (segment.cluster < 0 || labels.has(segment.cluster)) continue;
    for (const { start, end, label } of removed) {
      const samples = Math.min(segment.end, end) - Math.max(segment.start, start);
      if (samples <= 0 || label === UNKNOWN_SPEAKER) continue;
      const key = `${segment.cluster} ${label}`;
      const pair = shared.get(key) ?? { cluster: segment.cluster, label, samples: 0 };
      pair.samples += samples;
      shared.set(key, pair);
    }
  }
  const taken = new Set(labels.values());
  for (const { cluster, label } of [...shared.values()].sort((a, b) => b.samples - a.samples)) {
    if (labels.has(cluster) || taken.has(label)) continue;
    labels.set(cluster, label);
    taken.add(label);
  }
}
