import type { RecognisedSegment, RetranscriptionCommand } from "./command.ts";
import type { TranscriptReplaced } from "./event.ts";
import { fitSegments, overlapsOf, stayingTogether, withOwnStarts } from "./fit-segments.ts";
import { besideRedactions, isRedacted } from "./redaction.ts";
import { neededPoints, resumesAt } from "./resume-points.ts";
import { RetranscribedVoices } from "./retranscribed-voices.ts";
import { firstFrom, type SegmentMark, segmentId } from "./segments.ts";
import { knownTo } from "./speakers.ts";
import { isOver } from "./status.ts";
import type { LateGap } from "./timeline.ts";
import type { Turn } from "./turn.ts";
import type { Voices } from "./write.ts";

type Replacement = RetranscriptionCommand & { attempt: number };

/**
 * Replaces the segments in [from, to) by a second reading. Segments that a person edited stay,
 * except in a redo, and so do those that this reading could not read: new words are put around
 * them.
 */
export function replaceSegments(turn: Turn, reading: Replacement, late: readonly LateGap[]): void {
  const { segments: marks, speakers, timeline, jobId } = turn.state;
  const current = marks.slice(firstFrom(marks, reading.from), firstFrom(marks, reading.to));
  const isToStay = (mark: SegmentMark) =>
    (!reading.whole && mark.revision !== undefined) || isUnread(reading, mark);
  const isKept = stayingTogether(current, isToStay, reading.segments);
  const removed = current.filter((mark) => !isKept(mark));
  const segments = around(turn, reading, current.filter(isKept));
  const known = reading.whole ? {} : knownVoices(turn, reading, late);
  const { agreed = [] } = reading;
  const there = marks.slice(0, firstFrom(marks, reading.to));
  const voices = new RetranscribedVoices(speakers, known, [...agreed, ...segments], there);
  const added = segments.map((segment) => addSegment(turn, reading, { segment, segments }, voices));
  const edits = removed.filter(({ revision }) => revision !== undefined).length;
  turn.emit({
    type: "TranscriptReplaced",
    jobId,
    attempt: reading.attempt,
    from: reading.from,
    to: Math.min(reading.to, timeline.position),
    removed: removed.map((mark) => ({ segmentId: mark.id, start: mark.start })),
    added,
    sequences: late.map(({ sequence }) => sequence),
    ...(reading.whole ? { editsReplaced: edits } : {}),
  });
  if (!reading.whole) handOn(turn, reading, voices, known);
}

/**
 * Stores the second reading of the whole session as a result that waits; the segments stay. Its
 * voices get the labels that they would have if it replaced the text now.
 */
export function proposeSegments(turn: Turn, reading: Replacement): void {
  const { segments: marks, speakers, jobId } = turn.state;
  const isKept = stayingTogether(marks, (mark) => isUnread(reading, mark), reading.segments);
  const staying = marks.filter(isKept);
  const segments = around(turn, reading, staying);
  const voices = new RetranscribedVoices(speakers, {}, segments, marks);
  const proposed = segments.map((segment) => {
    return addSegment(turn, reading, { segment, segments }, voices, "CandidateText");
  });
  const kept = staying.map(({ id }) => id);
  const { attempt } = reading;
  turn.emit({ type: "RedoProposed", jobId, attempt, segments: proposed, kept });
}

/** True when the segment lies where this reading could not read. */
function isUnread({ unread = [] }: Replacement, mark: SegmentMark): boolean {
  return unread.some(({ start, end }) => mark.start < end && mark.end > start);
}

/** The words around the segments that stay; each new segment has a unique start. */
function around(
  { state }: Turn,
  { whole, from, to, segments }: Replacement,
  edited: readonly SegmentMark[],
): RecognisedSegment[] {
  const marks = state.segments;
  const before = whole ? undefined : marks[firstFrom(marks, from) - 1];
  const after = marks[firstFrom(marks, to)];
  const kept = [before, ...edited, after].filter((mark) => mark !== undefined);
  const taken = kept.map(({ start }) => start);
  const fitted = channelsOf(segments).flatMap((channel) => {
    const own = segments.filter((segment) => segment.channel === channel);
    // Whoever speaks on another channel takes no room from this one.
    const beside = kept.filter(({ cluster }) => channel === undefined || cluster === channel);
    return fitSegments(own, { from, to, kept: beside });
  });
  const inOrder = fitted.toSorted((one, other) => one.start - other.start);
  return withOwnStarts(besideRedactions(state, inOrder), taken);
}

function channelsOf(segments: readonly RecognisedSegment[]): (number | undefined)[] {
  return [...new Set(segments.map(({ channel }) => channel))];
}

/**
 * The labels of the checkpoint's clusters; if they were not stored, those that were known when the
 * gap was declared.
 */
function knownVoices(turn: Turn, { voices }: Replacement, late: readonly LateGap[]): Voices {
  if (voices !== undefined) return voices;
  const known = Math.min(...late.map(({ knownClusters }) => knownClusters));
  const { clusters } = turn.state.speakers;
  return Object.fromEntries(Object.entries(clusters).filter(([id]) => Number(id) < known));
}

function addSegment(
  turn: Turn,
  { attempt, whole }: Replacement,
  { segment, segments }: { segment: RecognisedSegment; segments: readonly RecognisedSegment[] },
  voices: RetranscribedVoices,
  type: "SegmentText" | "CandidateText" = "SegmentText",
): TranscriptReplaced["added"][number] {
  const { start, end, words, confidence } = segment;
  const label = whole ? voices.labelOf(segment) : voices.labelThere(segment);
  const idOf = (start: number): string => segmentId(turn.state.sessionId, attempt, start);
  const id = idOf(start);
  const redacted = isRedacted(turn.state, { start, end, label });
  turn.write({
    type,
    segmentId: id,
    attempt,
    start,
    end,
    label,
    words,
    confidence,
    speakerConfidence: voices.confidenceOf(segment, label),
    overlaps: overlapsOf(segment, segments, idOf),
    redacted,
  });
  const cluster = whole ? -1 : voices.clusterOf(segment, label);
  const mark = { segmentId: id, start, end, label, cluster };
  return redacted ? { ...mark, redacted } : mark;
}

/**
 * Stores this reading's checkpoints, so that audio that is still missing can be read from there.
 */
function handOn(
  turn: Turn,
  reading: Replacement,
  voices: RetranscribedVoices,
  known: Voices,
): void {
  const { state } = turn;
  // The first reading resumes from the newest checkpoint, so that one must be its own.
  const to = isOver(state.phase) ? reading.to : Math.min(reading.to, resumesAt(state));
  const checkpoints = (reading.checkpoints ?? [])
    .filter(({ position }) => position > reading.from && position < to)
    .map(({ clusters: ids, ...checkpoint }) => {
      const said = [...(reading.agreed ?? []), ...reading.segments];
      const heard = said.filter(({ start }) => start < checkpoint.position);
      const clusters = [...Object.keys(known).map(Number), ...heard.map(({ cluster }) => cluster)];
      return { ...checkpoint, voices: knownTo({ clusters: ids }, voices.of(clusters)) };
    });
  turn.write({
    type: "HandedOn",
    attempt: state.attempt,
    from: reading.from,
    to,
    checkpoints,
    keep: neededPoints(state),
  });
}
