import { AppError } from "../base/errors.ts";
import type { CommandOf, RedoProgressCommand, RetranscriptionCommand } from "./command.ts";
import { complete, isUnreadable } from "./redact-covered.ts";
import { isRedacted } from "./redaction.ts";
import { proposeSegments, replaceSegments } from "./replace-segments.ts";
import { firstFrom } from "./segments.ts";
import type { Candidate, SessionState } from "./state.ts";
import { isOver, type ReviewOutcome } from "./status.ts";
import { finalisedTo, isLate, type LateGap } from "./timeline.ts";
import type { Turn } from "./turn.ts";

/**
 * Requests that the whole session is read again; its text stays until then. Throws `job_active`
 * while a job runs, `conflict` without audio.
 */
export function decideRedo(
  turn: Turn,
  { type, byUserId }: CommandOf<"Redo"> | CommandOf<"RedoForReview">,
): { attempt: number; edits: number } {
  const { state } = turn;
  if (state.redo !== undefined || !isOver(state.phase)) {
    throw new AppError("job_active", "This job is queued or running already.");
  }
  if (state.timeline.position === 0) {
    throw new AppError("conflict", "This session has no audio that could be recognised again.");
  }
  const attempt = state.attempts + 1;
  const edits = state.segments.filter(({ revision }) => revision !== undefined).length;
  const isReviewed = type === "RedoForReview";
  if (isReviewed) assertComparable(state);
  turn.emit({
    type: "RedoRequested",
    jobId: state.jobId,
    attempt,
    byUserId,
    ...(isReviewed ? { review: true } : {}),
  });
  return { attempt, edits };
}

/** Throws `conflict` when there is nothing to compare with, or audio that changes it is due. */
function assertComparable({ segments, timeline }: SessionState): void {
  if (segments.length === 0) {
    throw new AppError(
      "conflict",
      "This session has no words to compare with: have it recognised again without a review.",
    );
  }
  if (!timeline.gaps.some(isLate)) return;
  throw new AppError(
    "conflict",
    "Audio that came late is still being read into this session; try again when it is.",
  );
}

/**
 * Cancels the redo. The running reading may still send its result, which is ignored without the
 * redo. Throws `conflict` when there is none.
 */
export function decideCancelRedo(turn: Turn, { byUserId }: CommandOf<"CancelRedo">): void {
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
 * Replaces the text of its span by a second reading. Each reading gets its attempt number here,
 * where they are decided one after the other: segment ids derive from it, and two readings with one
 * number would overwrite each other's words.
 */
export function decideRetranscription(turn: Turn, command: RetranscriptionCommand): void {
  const { state } = turn;
  if (command.whole && state.redo?.attempt !== command.attempt) return;
  if (command.whole && state.redo?.review === true) {
    proposeSegments(turn, { ...command, attempt: state.redo.attempt });
    return complete(turn);
  }
  const to = endOf(state, command);
  const late = lateBefore(state, command, to);
  if (!command.whole && late.length === 0) return;
  const attempt = (command.whole ? command.attempt : undefined) ?? state.attempts + 1;
  replaceSegments(turn, { ...command, attempt, to }, late);
  if (!command.whole) dropOutdated(turn);
  for (const { chunkId, sequence } of late) {
    turn.emit({ type: "ChunkTranscribed", chunkId, sequence });
  }
  // Late audio may be the first readable audio of a session that has failed.
  const isMended = state.phase === "failed" && !isUnreadable(state);
  if (command.whole || isMended) complete(turn);
}

/**
 * The end of the span to replace: not beyond what the first reading has finalised, because its
 * words are still to come there.
 */
function endOf(state: SessionState, command: RetranscriptionCommand): number {
  if (command.whole || isOver(state.phase)) return command.to;
  const end = finalisedTo(state.timeline, state.checkpoint);
  if (command.to <= end) return command.to;
  // No segment is cut, because its words after the end would be lost.
  const last = state.segments[firstFrom(state.segments, end) - 1];
  return last !== undefined && last.end > end ? last.start : end;
}

function lateBefore(
  { timeline }: SessionState,
  command: RetranscriptionCommand,
  to: number,
): LateGap[] {
  return timeline.gaps
    .filter(isLate)
    .filter(({ sequence }) => command.sequences.includes(sequence))
    .filter(({ start, length }) => start + length <= to);
}

/** What a choice came to; `edits` counts the edited segments that it replaced. */
interface Reviewed {
  outcome: ReviewOutcome;
  edits: number;
}

/**
 * Replaces the text by the waiting result of a redo, or drops that. The same choice again changes
 * nothing. Throws `not_found` when no such result waits, `conflict` when its fate is another one.
 */
export function decideReview(turn: Turn, command: CommandOf<"ReviewRedo">): Reviewed {
  const { attempt, choice, byUserId } = command;
  const { candidate, reviewed } = turn.state;
  if (candidate?.attempt !== attempt) {
    if (reviewed?.attempt !== attempt) throw new AppError("not_found", NONE_WAITS);
    if (reviewed.outcome === choice) return { outcome: choice, edits: 0 };
    throw new AppError(
      "conflict",
      `This transcription was decided on before: ${reviewed.outcome}.`,
    );
  }
  const edits = choice === "accepted" ? takeCandidate(turn, candidate) : 0;
  endReview(turn, candidate, choice, choice === "expired" ? undefined : byUserId);
  return { outcome: choice, edits };
}

export const NONE_WAITS = "No repeated transcription of this session waits for a choice.";

/**
 * Drops a waiting result after audio that came late has changed the text: it does not know the
 * words of that audio, and accepting it would lose them.
 */
function dropOutdated(turn: Turn): void {
  const { candidate } = turn.state;
  if (candidate !== undefined) endReview(turn, candidate, "outdated");
}

function endReview(
  turn: Turn,
  { attempt }: Candidate,
  outcome: ReviewOutcome,
  byUserId?: string,
): void {
  const by = byUserId === undefined ? {} : { byUserId };
  turn.emit({ type: "RedoReviewed", jobId: turn.state.jobId, attempt, outcome, ...by });
}

/** Replaces the text as a redo does; returns how many edited segments that removed. */
function takeCandidate(turn: Turn, { attempt, segments, kept }: Candidate): number {
  const { state } = turn;
  const staying = new Set(kept);
  const removed = state.segments.filter(({ id }) => !staying.has(id));
  const edits = removed.filter(({ revision }) => revision !== undefined).length;
  const added = segments.map(({ id: segmentId, redacted, ...mark }) => {
    const isHidden = redacted === true || isRedacted(state, mark);
    return { segmentId, ...mark, ...(isHidden ? { redacted: true as const } : {}) };
  });
  turn.write({
    type: "CandidateTaken",
    segmentIds: added.map(({ segmentId }) => segmentId),
    redacted: added.filter((mark) => mark.redacted).map(({ segmentId }) => segmentId),
  });
  turn.emit({
    type: "TranscriptReplaced",
    jobId: state.jobId,
    attempt,
    from: 0,
    to: state.timeline.position,
    removed: removed.map(({ id, start }) => ({ segmentId: id, start })),
    added,
    sequences: [],
    editsReplaced: edits,
  });
  return edits;
}
