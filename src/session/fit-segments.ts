import type { RecognisedSegment } from "./command.ts";
import type { Span } from "./segments.ts";
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
  current: readonly T[],
  isKept: (mark: T) => boolean,
  segments: readonly RecognisedSegment[],
): (mark: T) => boolean {
  const words = segments.flatMap((segment) => segment.words).filter(hasNoRoom);
  const kept = current.filter(isKept);
  const held = new Set(
    words.filter(({ start }) => kept.some((span) => covers(span, start))).map(({ end }) => end),
  );
  return (mark) => isKept(mark) || (mark.end - mark.start < TINY && held.has(mark.end));
}

/**
 * How many of what is kept lie before a word without room; undefined where what is kept has it
 * already. A segment that only happens to reach over the place does not: the word goes behind it.
 */
function slotOfExcess({ start, end }: Word, kept: readonly Span[]): number | undefined {
  if (kept.some((span) => span.end === end)) return undefined;
  const over = kept.findLastIndex((span) => covers(span, start));
  if (over >= 0) return over + 1;
  const before = kept.findIndex((span) => span.start > start);
  return before < 0 ? kept.length : before;
}

function covers({ start, end }: Span, position: number): boolean {
  return start <= position && position < end;
}

/** Where words may go: in [from, to), outside of what is kept. */
interface Room {
  from: number;
  to: number;
  /** In order. */
  kept: readonly Span[];
}

/**
 * What of `segments` has room. A word belongs where its middle lies, so that
 * none is doubled or lost where two readings differ by a few samples. A segment
 * that reaches over what is kept is cut there.
 */
export function fitSegments(
  segments: readonly RecognisedSegment[],
  room: Room,
): RecognisedSegment[] {
  return segments.flatMap((segment) => pieces(segment, room));
}

function pieces(segment: RecognisedSegment, room: Room): RecognisedSegment[] {
  if (segment.words.length === 0) return slotOf(segment, room) === undefined ? [] : [segment];
  const slots = new Map<number, Word[]>();
  for (const word of segment.words) {
    const slot = slotOfWord(word, room);
    if (slot === undefined) continue;
    slots.set(slot, [...(slots.get(slot) ?? []), within(slot, word, room)]);
  }
  return [...slots.values()].map((words) => withWords(segment, words));
}

function slotOfWord(word: Word, room: Room): number | undefined {
  const { start } = word;
  if (!hasNoRoom(word)) return slotOf(word, room);
  return start < room.from || start >= room.to ? undefined : slotOfExcess(word, room.kept);
}

/** How much of what is kept lies before it; undefined when there is no room for it. */
function slotOf({ start, end }: Span, { from, to, kept }: Room): number | undefined {
  const middle = (start + end) / 2;
  if (middle < from || middle >= to) return undefined;
  const before = kept.findIndex((span) => span.end > middle);
  if (before < 0) return kept.length;
  return (kept[before]?.start ?? 0) <= middle ? undefined : before;
}

/** What is kept has the rest of the word, or what was made of it. */
function within(slot: number, word: Word, { kept }: Room): Word {
  const start = Math.max(word.start, kept[slot - 1]?.end ?? 0);
  const end = Math.max(start + 1, Math.min(word.end, kept[slot]?.start ?? word.end));
  return start === word.start && end === word.end ? word : { ...word, start, end };
}

function withWords(segment: RecognisedSegment, words: Word[]): RecognisedSegment {
  const isWhole = words.every((word, n) => word === segment.words[n]);
  if (isWhole && words.length === segment.words.length) return segment;
  const total = words.reduce((sum, { confidence }) => sum + confidence, 0);
  return {
    ...segment,
    start: words[0]?.start ?? segment.start,
    end: words.at(-1)?.end ?? segment.end,
    words,
    confidence: total / words.length,
  };
}

/** Moves starts back by as little as it takes for each to be its own; segments are in order. */
export function withOwnStarts(
  segments: readonly RecognisedSegment[],
  taken: Iterable<number>,
): RecognisedSegment[] {
  const starts = new Set(taken);
  const own = segments.toReversed().map((segment) => {
    let { start } = segment;
    while (starts.has(start)) start -= 1;
    starts.add(start);
    return start === segment.start ? segment : { ...segment, start };
  });
  return own.reverse();
}
