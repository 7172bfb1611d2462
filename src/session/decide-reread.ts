import { AppError } from "../base/errors.ts";
import type { CommandOf, RedoProgressCommand, RereadCommand } from "./command.ts";
import { complete, isUnreadable } from "./redact-covered.ts";
import { replaceSegments } from "./replace-segments.ts";
import { firstFrom } from "./segments.ts";
import type { SessionState } from "./state.ts";
import { isOver } from "./status.ts";
import { finalisedTo, isLate, type LateGap } from "./timeline.ts";
import type { Turn } from "./turn.ts";

/**
 * Requests that the whole session is read again; its text stays until then. Throws `job_active`
 * while a job runs, `conflict` without audio.
 */
export function decideRedo(
  turn: Turn,
  command: CommandOf<"Redo">,
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
  const { byUserId } = command;
  turn.emit({ type: "RedoRequested", jobId: state.jobId, attempt, byUserId });
  return { attempt, edits };
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
export function decideReread(turn: Turn, command: RereadCommand): void {
  const { state } = turn;
  if (command.whole && state.redo?.attempt !== command.attempt) return;
  const to = endOf(state, command);
  const late = lateBefore(state, command, to);
  if (!command.whole && late.length === 0) return;
  const attempt = (command.whole ? command.attempt : undefined) ?? state.attempts + 1;
  replaceSegments(turn, { ...command, attempt, to }, late);
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
function endOf(state: SessionState, command: RereadCommand): number {
  if (command.whole || isOver(state.phase)) return command.to;
  const end = finalisedTo(state.timeline, state.checkpoint);
  if (command.to <= end) return command.to;
  // No segment is cut, because its words after the end would be lost.
  const last = state.segments[firstFrom(state.segments, end) - 1];
  return last !== undefined && last.end > end ? last.start : end;
}

function lateBefore({ timeline }: SessionState, command: RereadCommand, to: number): LateGap[] {
  return timeline.gaps
    .filter(isLate)
    .filter(({ sequence }) => command.sequences.includes(sequence))
    .filter(({ start, length }) => start + length <= to);
}
