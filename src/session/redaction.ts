import type { RecognisedSegment } from "./command.ts";
import type { SegmentMark } from "./segments.ts";
import { UNKNOWN_SPEAKER } from "./speakers.ts";
import type { Redaction, SessionState } from "./state.ts";

/** Placeholders for the words of a deleted session, by the kind of the deletion. */
const PLACEHOLDERS: Readonly<Record<string, string>> = {
  session_deleted_by_owner: "[redacted-session-deleted]",
  session_deleted_by_admin: "[redacted-session-deleted]",
  account_erasure_session_redacted: "[redacted-account-erasure]",
  retention_session_redacted: "[redacted-retention]",
};

/** The placeholder for the words of a segment whose span or speaker was redacted. */
export const REDACTED_SPAN = "[redacted-span]";

/** The placeholder for a deleted session's words; `kind` may be undefined for an old deletion. */
export function deletionPlaceholder(kind: string | undefined): string {
  return PLACEHOLDERS[kind ?? ""] ?? "[redacted-session-deleted]";
}

type Place = Pick<SegmentMark, "start" | "end" | "label">;

/** True when a segment overlaps a redacted span of its speaker. */
export function isWithin(mark: Place, from: number, to: number, label?: string): boolean {
  return mark.start < to && mark.end > from && (label === undefined || mark.label === label);
}

/**
 * True when an unfinished utterance may not be shown: it is covered by a redaction, or may turn out
 * to be, as long as its speaker is unknown.
 */
export function isWithheld(state: Readonly<SessionState>, mark: Place): boolean {
  return state.redactions.some(({ from, to, label }) =>
    isWithin(mark, from, to, mark.label === UNKNOWN_SPEAKER ? undefined : label),
  );
}

/**
 * The redactions after the label `from` was merged into `into`: segments redacted so far stay
 * redacted at their place, and what the voice says later is redacted under the surviving label.
 * Must be called before the segments get that label.
 */
export function followMerge(
  { redactions, segments }: Readonly<SessionState>,
  from: string,
  into: string,
): Redaction[] {
  const heard = segments.at(-1)?.end ?? 0;
  return redactions.flatMap((redaction) => {
    if (redaction.label !== from) return [redaction];
    const merged = { ...redaction, label: into };
    const taken = segments
      .filter((mark) => mark.redacted && isWithin(mark, redaction.from, redaction.to, from))
      .map((mark) => ({ ...merged, from: mark.start, to: mark.end }));
    if (redaction.to <= heard) return taken;
    return [...taken, { ...merged, from: Math.max(redaction.from, heard) }];
  });
}

/** Segments that get another label without a merge. */
interface Moved {
  from: string;
  label: string;
  isMoved: (mark: SegmentMark) => boolean;
  /** True when they are all of a voice, so that what it says later has that label too. */
  isVoice: boolean;
}

/**
 * The redactions after segments of the label `from` were given to `label`: what was redacted stays so
 * at its place, under the label that it has then. What a voice that was merged says later is redacted
 * as that of the voice whose part it was. Must be called before the segments get that label.
 */
export function followMoved(
  { redactions, segments }: Readonly<SessionState>,
  { from, label, isMoved, isVoice }: Moved,
): Redaction[] {
  const heard = segments.at(-1)?.end ?? 0;
  return redactions.flatMap((redaction) => {
    if (redaction.label !== from) return [redaction];
    const taken = segments
      .filter((mark) => mark.redacted && isMoved(mark))
      .filter((mark) => isWithin(mark, redaction.from, redaction.to, from))
      .map((mark) => ({ ...redaction, label, from: mark.start, to: mark.end }));
    if (!isVoice || redaction.to <= heard) return [redaction, ...taken];
    return [redaction, ...taken, { ...redaction, label, from: Math.max(redaction.from, heard) }];
  });
}

/**
 * Cuts segments where only their pauses reach into the redaction of a span: an utterance begins a
 * little before its first word, and silenced audio does not end one. A segment with a word inside
 * stays whole, and is redacted.
 */
export function besideRedactions(
  { redactions }: Readonly<SessionState>,
  segments: readonly RecognisedSegment[],
): RecognisedSegment[] {
  const spans = redactions.filter(({ label }) => label === undefined);
  return segments.flatMap((segment) =>
    spans.reduce<RecognisedSegment[]>(
      (parts, span) => parts.flatMap((part) => beside(part, span)),
      [segment],
    ),
  );
}

function beside(segment: RecognisedSegment, { from, to }: Redaction): RecognisedSegment[] {
  const { start, end, words } = segment;
  if (start >= to || end <= from) return [segment];
  const before = words.filter((word) => word.end <= from);
  const after = words.filter((word) => word.start >= to);
  if (words.length === 0 || before.length + after.length < words.length) return [segment];
  return [
    ...(before.length > 0 ? [{ ...segment, words: before, end: Math.min(end, from) }] : []),
    ...(after.length > 0 ? [{ ...segment, words: after, start: Math.max(start, to) }] : []),
  ];
}

/**
 * True when a redaction covers the segment: redacted words stay redacted, however often they are
 * read again.
 */
export function isRedacted(state: Readonly<SessionState>, mark: Place): boolean {
  return state.redactions.some(({ from, to, label }) => isWithin(mark, from, to, label));
}
