import { AppError } from "../base/errors.ts";
import type { CommandOf } from "./command.ts";
import { survivingName } from "./decide-speakers.ts";
import { candidateIds, redactCovered } from "./redact-covered.ts";
import { isWithin } from "./redaction.ts";
import type { Turn } from "./turn.ts";

/**
 * Changes a segment's text or speaker for a person. Throws `not_found`, `conflict` for a redacted
 * segment, or `precondition_failed` for another revision.
 */
export function decideEdit(turn: Turn, command: CommandOf<"EditSegment">): object {
  const { state } = turn;
  const mark = state.segments.find((segment) => segment.id === command.segmentId);
  if (mark === undefined) throw new AppError("not_found", "There is no segment with this id.");
  if (mark.redacted) throw new AppError("conflict", "This segment was redacted.");
  const { expectedRevision } = command;
  if (expectedRevision !== undefined && expectedRevision !== (mark.revision ?? 1)) {
    throw new AppError("precondition_failed", "This segment has changed since you read it.");
  }
  const label = command.label === "" ? mark.label : survivingName(turn, command.label);
  const revision = (mark.revision ?? 1) + 1;
  const { segmentId, editId, byUserId } = command;
  if (editId === "" && label === mark.label) {
    return { segmentId, revision: revision - 1, label };
  }
  turn.emit({
    type: "SegmentRevised",
    segmentId,
    start: mark.start,
    revision,
    label,
    ...(editId === "" ? {} : { editId }),
    ...(label === mark.label ? {} : { chosen: true as const }),
    byUserId,
  });
  redactCovered(turn);
  return { segmentId, revision, label };
}

/** Redacts the words of a span, or of one speaker in it, for good. */
export function decideRedact(turn: Turn, command: CommandOf<"Redact">): object {
  const { redactionId, from, to, byUserId } = command;
  const label = command.label === "" ? undefined : survivingName(turn, command.label);
  const touched = turn.state.segments.filter((mark) => isWithin(mark, from, to, label));
  const segmentIds = touched.map((mark) => mark.id);
  const waiting = candidateIds(turn.state, (mark) => isWithin(mark, from, to, label));
  const redaction = { redactionId, from, to, segmentIds, ...waiting, byUserId };
  const event = { type: "SpanRedacted", ...redaction } as const;
  turn.emit(label === undefined ? event : { ...event, label });
  return { segmentIds };
}

export function decideSummaryStored(turn: Turn, command: CommandOf<"SummaryStored">): void {
  const { jobId, summaryType, completesNotes } = command;
  const event = { type: "SummaryUpdated", jobId, summaryType } as const;
  turn.emit(completesNotes === true ? { ...event, completesNotes } : event);
}

export function decideConcernStored(turn: Turn, command: CommandOf<"ConcernStored">): void {
  if (turn.state.concerns?.includes(command.concernId)) return;
  turn.emit({ type: "ConcernRaised", concernId: command.concernId });
}

export function decideAnnotationStored(turn: Turn, command: CommandOf<"AnnotationStored">): void {
  const { annotationType, annotationId, removed } = command;
  const event = { type: "AnnotationChanged", annotationType, annotationId } as const;
  turn.emit(removed === true ? { ...event, removed } : event);
}

export function decideGuestStored(turn: Turn, { guestId }: CommandOf<"GuestStored">): void {
  turn.emit({ type: "GuestJoined", guestId });
}
