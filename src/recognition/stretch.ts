import { firstFrom } from "../session/segments.ts";
import type { Span } from "../session/span.ts";
import type { SessionState } from "../session/state.ts";
import { isOver } from "../session/status.ts";
import { finalisedTo, isLate, SAMPLE_RATE } from "../session/timeline.ts";

/** Late audio that is read together, in samples. */
export interface Stretch {
  start: number;
  until: number;
}

/** Two readings that hear the same may be so far apart: two frames of the worker. */
const SAME = SAMPLE_RATE / 50;
/** And so far where they only have the same pause. */
const TOLERANCE = SAMPLE_RATE / 10;

/**
 * The first late audio that waits for no other, with what follows it at once.
 * Undefined when there is none, or the first reading has yet to get there:
 * nothing is known before that from which it could be read.
 */
export function nextStretch(state: Readonly<SessionState>): Stretch | undefined {
  const { timeline } = state;
  const late = timeline.gaps.filter(isLate).toSorted((a, b) => a.start - b.start);
  const first = late.find(({ due }) => due);
  if (first === undefined) return undefined;
  const { start } = first;
  if (!isOver(state.phase) && finalisedTo(timeline, state.checkpoint) < start) return undefined;
  let until = start + first.length;
  for (const gap of late) {
    if (gap.start >= start && gap.start <= until) until = Math.max(until, gap.start + gap.length);
  }
  return { start, until };
}

/** Where the segment that stands begins whose span is the same; undefined when there is none. */
export function sameStart(
  { segments }: Readonly<SessionState>,
  { start, end }: { start: number; end: number },
): number | undefined {
  const mark = segments[firstFrom(segments, start - SAME)];
  if (mark === undefined || mark.start > start + SAME) return undefined;
  return Math.abs(mark.end - end) <= SAME ? mark.start : undefined;
}

/**
 * How many of the first segments of a second reading, of those that end before `until`, stand there
 * with the same spans, and where what it says anew begins: a reading from a checkpoint says again
 * what the first one said after it.
 */
export function agreement(
  { segments }: Readonly<SessionState>,
  from: number,
  read: readonly Span[],
  until: number,
): { count: number; to: number } {
  const first = firstFrom(segments, from - SAME);
  const differs = read.findIndex(({ start, end }, n) => {
    const mark = segments[first + n];
    const isSame = mark && Math.max(Math.abs(mark.start - start), Math.abs(mark.end - end)) <= SAME;
    return !isSame || Math.max(end, mark.end) > until;
  });
  for (let count = differs < 0 ? read.length : differs; count > 0; count -= 1) {
    const [last, mark] = [read[count - 1], segments[first + count - 1]];
    const to = Math.max(last?.end ?? 0, mark?.end ?? 0);
    // Words without room stand at one place: no line can be drawn between them.
    const next = Math.min(read[count]?.start ?? to, segments[first + count]?.start ?? to);
    if (to <= next) return { count, to };
  }
  return { count: 0, to: from };
}

/**
 * Where a second reading that has come to `position` may end; undefined when a
 * segment that stands reaches over it: its words would be cut.
 */
export function agreedEnd(
  { segments }: Readonly<SessionState>,
  position: number,
): number | undefined {
  const next = firstFrom(segments, position - TOLERANCE);
  const before = segments[next - 1];
  if (before !== undefined && before.end > position + TOLERANCE) return undefined;
  const mark = segments[next];
  const isAfter = mark !== undefined && mark.end > position + TOLERANCE;
  return isAfter ? Math.min(position, mark.start) : position;
}
