import type { RecognisedSegment } from "./command.ts";
import type { Span } from "./span.ts";
import type { Word } from "./write.ts";

/** Samples. What has room on the timeline is never as short. */
const TINY = 160;

/**
 * The word was said in sound that has no room on the timeline. All of a late chunk's such words stand
 * in the last sample of its place, where time does not tell one from another.
 */
export function hasNoRoom({ start, end, timesClamped }: Word): boolean {
  return timesClamped === true && end - start <= 1;
}

/**
 * Which of what stands a reading leaves there, of which `isKept` has to stay: where that is part of
 * a chunk's sound without room, all of that sound stays as it was heard before.
 */
export function keptTogether<T extends Span>(
  standing: readonly T[],
  isKept: (mark: T) => boolean,
  segments: readonly RecognisedSegment[],
): (mark: T) => boolean {
  const words = segments.flatMap((segment) => segment.words).filter(hasNoRoom);
  const kept = standing.filter(isKept);
  const held = new Set(
    words.filter(({ start }) => kept.some((span) => covers(span, start))).map(({ end }) => end),
  );
  return (mark) => isKept(mark) || (mark.end - mark.start < TINY && held.has(mark.end));
}

/**
 * How many of what is kept lie before a word without room; undefined where what is kept has it
 * already. A segment that only happens to reach over the place does not: the word goes behind it.
 */
export function slotOfExcess({ start, end }: Word, kept: readonly Span[]): number | undefined {
  if (kept.some((span) => span.end === end)) return undefined;
  const over = kept.findLastIndex((span) => covers(span, start));
  if (over >= 0) return over + 1;
  const before = kept.findIndex((span) => span.start > start);
  return before < 0 ? kept.length : before;
}

function covers({ start, end }: Span, position: number): boolean {
  return start <= position && position < end;
}
