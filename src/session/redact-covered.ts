import { isWithin } from "./redaction.ts";
import { neededPoints } from "./resume-points.ts";
import { type SegmentMark, speakersHeard } from "./segments.ts";
import type { SessionState } from "./state.ts";
import { AUDIO_UNREADABLE, isOver } from "./status.ts";
import type { Turn } from "./turn.ts";

/** The segments of a waiting redo's result that a redaction concerns, for its event. */
export function candidateIds(
  { candidate }: SessionState,
  isConcerned: (mark: SegmentMark) => boolean,
): { candidateIds?: string[] } {
  const ids = (candidate?.segments ?? []).filter(isConcerned).map(({ id }) => id);
  return ids.length === 0 ? {} : { candidateIds: ids };
}

/** Ends the job and the session, when everything was read or there was nothing to read. */
export function complete(turn: Turn): void {
  const { redo } = turn.state;
  const attempt = redo?.attempt ?? turn.state.attempt;
  if (isUnreadable(turn.state)) fail(turn, attempt);
  else succeed(turn, attempt);
  turn.write({
    type: "CheckpointsKept",
    attempt: turn.state.attempt,
    keep: neededPoints(turn.state),
  });
}

function succeed(turn: Turn, attempt: number): void {
  const { jobId, segments, timeline } = turn.state;
  turn.emit({
    type: "JobCompleted",
    jobId,
    attempt,
    segmentCount: segments.length,
    speakerCount: speakersHeard(segments),
    durationMs: Math.round(timeline.position / 16),
  });
  if (turn.state.phase !== "completed") turn.emit({ type: "SessionCompleted" });
}

function fail(turn: Turn, attempt: number): void {
  const { jobId, refused } = turn.state;
  const message = refused
    ? "What the device streamed is no audio."
    : "None of the audio could be read.";
  turn.emit({ type: "JobFailed", jobId, attempt, message });
  if (turn.state.phase !== "failed") {
    turn.emit({ type: "SessionFailed", message, reason: AUDIO_UNREADABLE });
  }
}

/**
 * True when audio came and none of it could be read. Only meaningful when all of it was processed.
 */
export function isUnreadable({ heard, segments, refused, lost }: SessionState): boolean {
  if (heard || segments.length > 0) return false;
  return refused === true || lost === true;
}

/** True when all chunks of the session have their place on the timeline. */
export function isAllPlaced({
  phase,
  stop,
  timeline,
}: Pick<SessionState, "phase" | "stop" | "timeline">): boolean {
  return isOver(phase) || (stop !== undefined && timeline.next > stop.lastSequence);
}

/**
 * Redacts segments that have come under the redaction of a speaker. Must be called after labels
 * have changed.
 */
export function redactCovered(turn: Turn): void {
  for (const { redactionId, byUserId, from, to, label } of [...turn.state.redactions]) {
    if (label === undefined || redactionId === undefined || byUserId === undefined) continue;
    const isCovered = (mark: SegmentMark) =>
      mark.redacted !== true && isWithin(mark, from, to, label);
    const segmentIds = turn.state.segments.filter(isCovered).map(({ id }) => id);
    const waiting = candidateIds(turn.state, isCovered);
    if (segmentIds.length === 0 && waiting.candidateIds === undefined) continue;
    const redaction = { redactionId, from, to, label, segmentIds, ...waiting, byUserId };
    turn.emit({ type: "SpanRedacted", ...redaction });
  }
}
