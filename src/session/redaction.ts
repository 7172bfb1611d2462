import type { SegmentMark } from "./segments.ts";
import { UNKNOWN_SPEAKER } from "./speakers.ts";
import type { SessionState } from "./state.ts";

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

/** True when a redaction covers it: what was taken out stays out, whatever is read again. */
export function isRedacted(state: Readonly<SessionState>, mark: Place): boolean {
  return state.redactions.some(({ from, to, label }) => isWithin(mark, from, to, label));
}
