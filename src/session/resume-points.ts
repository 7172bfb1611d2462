import type { SessionState } from "./state.ts";
import { isOver } from "./status.ts";
import { SAMPLE_RATE } from "./timeline.ts";

/**
 * A checkpoint this near to missing audio may be that of an utterance which the
 * gap cut off: what comes later is read from the one before.
 */
const SEAM = SAMPLE_RATE;

/** From the newest checkpoint at or before it audio is read again that begins at `start`. */
export function resumePoint(start: number): number {
  return Math.max(0, start - SEAM);
}

/**
 * A checkpoint that the first reading resumes at, or one before that. Earlier releases stored one
 * with each final.
 */
export function resumesAt({ resume, checkpoint }: Pick<SessionState, "resume" | "checkpoint">) {
  return resume ?? checkpoint;
}

/** Positions at or before which the newest checkpoint is needed still. */
export function neededPoints({
  timeline,
  phase,
}: Pick<SessionState, "timeline" | "phase">): number[] {
  const { gaps, position } = timeline;
  const ends = new Set(
    gaps.filter(({ length }) => length > 0).map((gap) => gap.start + gap.length),
  );
  // Those that follow another one at once are read from where that one is.
  const first = gaps.filter(({ start }) => !ends.has(start));
  const points = first.map(({ start }) => resumePoint(start));
  // The first reading goes on from the newest, and from one before it what is missing at the end.
  const goesOn = isOver(phase) ? [] : [resumePoint(position), Number.MAX_SAFE_INTEGER];
  return [...new Set([...points, ...goesOn])];
}
