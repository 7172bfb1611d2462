import type { RecognisedSegment } from "../session/command.ts";
import { firstFrom, type Span } from "../session/segments.ts";
import type { SessionState } from "../session/state.ts";
import { isOver } from "../session/status.ts";
import { finalisedTo, isLate, SAMPLE_RATE } from "../session/timeline.ts";
import type { Word } from "../session/write.ts";
import type { Segment } from "../wire/gen/voice/v1/worker.ts";
import { toSegment } from "./recognised.ts";

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

type RecognisedWord = Segment["words"][number];

interface Place {
  position: number;
  /** It lies in sound that has no room on the timeline. */
  isClamped: boolean;
}

/**
 * The time of a reading in which sound follows sound where late chunks are
 * longer or shorter than their places: it runs ahead of the timeline by what was
 * too long, and behind by what was too short. On the timeline what was too long
 * stands at the end of its chunk's place.
 */
export class StretchedTime {
  readonly #stretches: { end: number; excess: number }[] = [];

  /** By how much it runs ahead by now; negative when it is behind. */
  get shift(): number {
    return this.#stretches.reduce((sum, { excess }) => sum + excess, 0);
  }

  /** The sound of a chunk goes on for so many samples behind its place's end, or ends so many before. */
  stretch(end: number, excess: number): void {
    this.#stretches.push({ end, excess });
  }

  /** Where a position of the reading is on the timeline. */
  placeOf(position: number): Place {
    let place = position;
    for (const { end, excess } of this.#stretches) {
      if (place <= end) break;
      if (place < end + excess) return { position: end, isClamped: true };
      place -= excess;
    }
    return { position: place, isClamped: false };
  }

  /** True where sound without room on the timeline is still to come that stands there, too. */
  isWithinExcess(position: number): boolean {
    let place = position;
    for (const { end, excess } of this.#stretches) {
      if (place < end) return false;
      if (place < end + excess) return true;
      place -= excess;
    }
    return false;
  }

  /** A segment of the reading as it stands on the timeline. */
  segment(read: Segment): RecognisedSegment {
    const segment = toSegment(read);
    if (this.#stretches.length === 0) return segment;
    const words = segment.words.map((word) => this.#word(word));
    const placed = this.#placed(segment);
    const [first, last] = [words[0], words.at(-1)];
    const start = Math.max(placed.start, first?.timesClamped ? first.start : 0);
    const end = last?.timesClamped ? Math.min(placed.end, last.end) : placed.end;
    return { ...segment, start, end: Math.max(start, end), words };
  }

  #word(word: RecognisedWord): Word {
    const { start, end, isClamped } = this.#placed(word);
    const length = word.end - word.start;
    if (end - start > Math.max(1, length)) {
      // It reaches over a hole that the reading did not hear: it stands where most of it lies.
      const isBefore = this.placeOf((word.start + word.end) / 2).position <= start + length;
      const place = isBefore ? { start, end: start + length } : { start: end - length, end };
      return { ...word, ...place, timesClamped: true };
    }
    return isClamped ? { ...word, start, end, timesClamped: true } : { ...word, start, end };
  }

  #placed(span: Span): Span & Pick<Place, "isClamped"> {
    const [start, end] = [this.#start(span.start), this.#end(span.end)];
    return {
      start: start.position,
      end: Math.max(start.position, end.position),
      isClamped: start.isClamped || end.isClamped,
    };
  }

  /**
   * What begins where the sound of a chunk ends belongs to what follows it. Where that has no room
   * it still belongs to the chunk's place: it begins with its last sample.
   */
  #start(position: number): Place {
    let place = position;
    for (const { end, excess } of this.#stretches) {
      if (place < end) break;
      if (place < end + excess) return { position: Math.max(0, end - 1), isClamped: true };
      place -= excess;
    }
    return { position: place, isClamped: false };
  }

  /** What ends with sound that has no room ends in it. */
  #end(position: number): Place {
    let place = position;
    for (const { end, excess } of this.#stretches) {
      if (place <= end) break;
      if (place <= end + excess) return { position: end, isClamped: true };
      place -= excess;
    }
    return { position: place, isClamped: false };
  }
}
