import type { SegmentMark } from "./segments.ts";
import { UNKNOWN_SPEAKER } from "./speakers.ts";
import type { Redaction, SessionState } from "./state.ts";

type Place = Pick<SegmentMark, "start" | "end" | "label">;

/** True when a segment overlaps a redacted span of its speaker. */
export function isWithin(mark: Place, from: number, to: number, label?: string): boolean {
  return mark.start < to && mark.end > from && (label === undefined || mark.label === label);
}

/**
 * True when an utterance that is still being said may not be shown: it falls
 * under a redaction, or may turn out to, as long as its voice is not known.
 */
export function isWithheld(state: Readonly<SessionState>, mark: Place): boolean {
  return state.redactions.some(({ from, to, label }) =>
    isWithin(mark, from, to, mark.label === UNKNOWN_SPEAKER ? undefined : label),
  );
}

/**
 * The redactions of a voice once its label was found to be another's: what was
 * taken out stays out at its place, and what the voice has still to say follows
 * the label that stands. For before the segments get that label.
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

/** True when a redaction covers it: what was taken out stays out, whatever is read again. */
export function isRedacted(state: Readonly<SessionState>, mark: Place): boolean {
  return state.redactions.some(({ from, to, label }) => isWithin(mark, from, to, label));
}
