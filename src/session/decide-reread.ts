import type { RecognisedSegment, RereadCommand } from "./command.ts";
import { segmentId } from "./decide-recognition.ts";
import type { TranscriptReplaced } from "./event.ts";
import { firstFrom, type SegmentMark } from "./segments.ts";
import { labelName, standing, UNKNOWN_SPEAKER } from "./speakers.ts";
import type { Turn } from "./turn.ts";

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
  if (filled.length === 0) return;
  const known = Math.min(...filled.map((gap) => gap.knownClusters));
  const removed = state.segments.slice(
    firstFrom(state.segments, command.from),
    firstFrom(state.segments, command.to),
  );
  const labels = mapClusters(turn, command.segments, removed, known);
  const added = command.segments.map((segment) => {
    const label = labels.get(segment.cluster) ?? UNKNOWN_SPEAKER;
    return addSegment(turn, segment, command.attempt, label, known);
  });
  turn.emit({
    type: "TranscriptReplaced",
    jobId: state.jobId,
    attempt: command.attempt,
    from: command.from,
    to: command.to,
    removed: removed.map((mark) => ({ segmentId: mark.id, start: mark.start })),
    added,
    sequences: filled.map((gap) => gap.sequence),
  });
  for (const { chunkId, sequence } of filled) {
    if (chunkId !== undefined) turn.emit({ type: "ChunkTranscribed", chunkId, sequence });
  }
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
  turn.write({ type: "SegmentText", segmentId: id, attempt, start, end, label, words, confidence });
  const cluster = segment.cluster < known ? segment.cluster : -1;
  return { segmentId: id, start, end, label, cluster };
}

function mapClusters(
  turn: Turn,
  segments: readonly RecognisedSegment[],
  removed: readonly SegmentMark[],
  known: number,
): Map<number, string> {
  const { speakers } = turn.state;
  const labels = new Map<number, string>();
  let fresh = speakers.labels.length;
  for (const { cluster } of segments) {
    if (cluster < 0 || labels.has(cluster)) continue;
    const index = cluster < known ? speakers.clusters[cluster] : undefined;
    const label =
      index === undefined
        ? mostOverlapped(segments, cluster, removed)
        : labelName(standing(speakers, index));
    labels.set(cluster, label ?? labelName(fresh++));
  }
  return labels;
}

function mostOverlapped(
  segments: readonly RecognisedSegment[],
  cluster: number,
  removed: readonly SegmentMark[],
): string | undefined {
  const shared = new Map<string, number>();
  for (const segment of segments) {
    if (segment.cluster !== cluster) continue;
    for (const mark of removed) {
      const overlap = Math.min(segment.end, mark.end) - Math.max(segment.start, mark.start);
      if (overlap > 0) shared.set(mark.label, (shared.get(mark.label) ?? 0) + overlap);
    }
  }
  shared.delete(UNKNOWN_SPEAKER);
  return [...shared].sort((a, b) => b[1] - a[1])[0]?.[0];
}
