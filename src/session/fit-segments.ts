import type { RecognisedSegment } from "./command.ts";
import type { Span } from "./segments.ts";
import type { SegmentOverlap, Word } from "./write.ts";

/** Segments shorter than this have no room on the timeline, samples. */
const TINY = 160;
/** Utterances are cut at the latest after so many samples (20 s). */
const LONGEST_UTTERANCE = 320_000;

/**
 * True when the word was said in sound that has no room on the timeline. All such words of a late
 * chunk lie in the last sample of its place, where their times are the same.
 */
export function hasNoRoom({ start, end, timesClamped }: Word): boolean {
  return timesClamped === true && end - start <= 1;
}

/**
 * Returns which existing segments stay when a reading replaces the others. Segments for which
 * `isKept` is true stay; if one of them is part of a chunk's sound without room, all existing
 * segments of that sound stay.
 */
export function stayingTogether<T extends Span>(
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
 * How many kept segments lie before a word without room; undefined when a kept one has its sound
 * already. A segment that only reaches over the place does not have it: the word goes behind it.
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

/** The room for words: [from, to), outside of the kept segments. */
interface Room {
  from: number;
  to: number;
  /** The spans that are kept, in order. */
  kept: readonly Span[];
}

/**
 * Returns the parts of `segments` that have room. A word belongs where its middle lies, so that
 * none is doubled or lost where two readings differ by a few samples. A segment that overlaps a
 * kept one is cut there.
 */
export function fitSegments(
  segments: readonly RecognisedSegment[],
  room: Room,
): RecognisedSegment[] {
  return segments.flatMap((segment) => parts(segment, room));
}

function parts(segment: RecognisedSegment, room: Room): RecognisedSegment[] {
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

/** How many kept segments lie before the span; undefined when there is no room for it. */
function slotOf({ start, end }: Span, { from, to, kept }: Room): number | undefined {
  const middle = (start + end) / 2;
  if (middle < from || middle >= to) return undefined;
  const before = kept.findIndex((span) => span.end > middle);
  if (before < 0) return kept.length;
  return (kept[before]?.start ?? 0) <= middle ? undefined : before;
}

/** Cuts a word at the kept segments before and after it. */
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

/**
 * Makes the starts of segments unique by moving them back as little as possible; segments are in
 * order.
 */
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

/**
 * Where others speak within the segment, in order, each with the segment that has the words of that
 * voice next to it: the voice is whoever that segment's speaker is, also when that changes later.
 *
 * @param others segments of the same reading; a voice without words within 20 s is left out
 * @param idOf the id of the segment that starts there
 */
export function overlapsOf(
  segment: RecognisedSegment,
  others: readonly RecognisedSegment[],
  idOf: (start: number) => string,
): SegmentOverlap[] {
  return (segment.overlaps ?? []).flatMap(({ cluster, ...overlap }) => {
    const start = Math.max(overlap.start, segment.start);
    const end = Math.min(overlap.end, segment.end);
    const [nearest] = others
      .filter((other) => other.cluster === cluster && other.start !== segment.start)
      .filter((other) => distance(other, overlap) <= LONGEST_UTTERANCE)
      .sort((one, other) => distance(one, overlap) - distance(other, overlap));
    if (nearest === undefined || end <= start) return [];
    return [{ segmentId: idOf(nearest.start), start, end }];
  });
}

function distance(one: Span, other: Span): number {
  return Math.max(0, one.start - other.end, other.start - one.end);
}
