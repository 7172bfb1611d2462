import type { SessionState } from "./state.ts";
import { isOver } from "./status.ts";
import { SAMPLE_RATE } from "./timeline.ts";

/**
 * A checkpoint this near to missing audio may belong to an utterance that the gap cut off: late
 * audio is then read from the checkpoint before it. Samples.
 */
const SEAM = SAMPLE_RATE;

/**
 * Late audio that begins at `start` is read from the newest checkpoint at or before this position.
 */
export function resumePoint(start: number): number {
  return Math.max(0, start - SEAM);
}

/**
 * The position of a checkpoint from which the first reading resumes, or of one before it. Earlier
 * releases stored one with each segment.
 */
export function resumesAt({ resume, checkpoint }: Pick<SessionState, "resume" | "checkpoint">) {
  return resume ?? checkpoint;
}

/** Positions for which the newest checkpoint at or before each is still needed. */
export function neededPoints({
  timeline,
  phase,
}: Pick<SessionState, "timeline" | "phase">): number[] {
  const { gaps, position } = timeline;
  const ends = new Set(
    gaps.filter(({ length }) => length > 0).map((gap) => gap.start + gap.length),
  );
  // Gaps that directly follow another one are read together with it.
  const first = gaps.filter(({ start }) => !ends.has(start));
  const points = first.map(({ start }) => resumePoint(start));
  // The first reading resumes from the newest checkpoint; audio that is missing at the end is read
  // from one before it.
  const goesOn = isOver(phase) ? [] : [resumePoint(position), Number.MAX_SAFE_INTEGER];
  return [...new Set([...points, ...goesOn])];
}
