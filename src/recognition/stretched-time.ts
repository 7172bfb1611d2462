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

/**
 * Most difference between the same positions of two readings: two frames of the worker, samples.
 */
const SAME = SAMPLE_RATE / 50;
/** Most difference between positions in the same pause, samples. */
const TOLERANCE = SAMPLE_RATE / 10;

/**
 * The first late audio that does not wait for other chunks, with the late audio directly behind it.
 * Undefined when there is none, or the first reading has not come there yet, because no checkpoint
 * near it exists before.
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

/** Start of the existing segment with the same span; undefined when there is none. */
export function sameStart(
  { segments }: Readonly<SessionState>,
  { start, end }: { start: number; end: number },
): number | undefined {
  const mark = segments[firstFrom(segments, start - SAME)];
  if (mark === undefined || mark.start > start + SAME) return undefined;
  return Math.abs(mark.end - end) <= SAME ? mark.start : undefined;
}

/**
 * How many of the first segments of a retranscription, of those that end before `until`, have the
 * same spans as existing ones, and where its new text begins: a reading from a checkpoint first
 * repeats the text of the first reading after it.
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
    // Words without room have the same place, so they cannot be divided.
    const next = Math.min(read[count]?.start ?? to, segments[first + count]?.start ?? to);
    if (to <= next) return { count, to };
  }
  return { count: 0, to: from };
}

/**
 * Where a retranscription that has come to `position` may end; undefined when an existing segment
 * overlaps the position, because its words would be cut.
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
  /** The position lies in sound that has no room on the timeline. */
  isClamped: boolean;
}

/**
 * The time of a reading in which sound follows sound directly where late chunks are longer or
 * shorter than their places: it runs ahead of the timeline by the excess, and behind by the
 * shortfall. On the timeline, the excess lies at the end of its chunk's place.
 */
export class StretchedTime {
  readonly #stretches: { end: number; excess: number }[] = [];

  /** Samples by which it is ahead of the timeline now; negative when it is behind. */
  get shift(): number {
    return this.#stretches.reduce((sum, { excess }) => sum + excess, 0);
  }

  /**
   * Notes that the sound of a chunk continues for `excess` samples behind the end of its place;
   * negative when it ends before.
   */
  stretch(end: number, excess: number): void {
    this.#stretches.push({ end, excess });
  }

  /** The place of the reading's position on the timeline. */
  placeOf(position: number): Place {
    let place = position;
    for (const { end, excess } of this.#stretches) {
      if (place <= end) break;
      if (place < end + excess) return { position: end, isClamped: true };
      place -= excess;
    }
    return { position: place, isClamped: false };
  }

  /** True when more sound follows that has the same place on the timeline. */
  isWithinExcess(position: number): boolean {
    let place = position;
    for (const { end, excess } of this.#stretches) {
      if (place < end) return false;
      if (place < end + excess) return true;
      place -= excess;
    }
    return false;
  }

  /** Converts a segment of the reading to the timeline. */
  segment(read: Segment): RecognisedSegment {
    const segment = toSegment(read);
    if (this.#stretches.length === 0) return segment;
    const words = segment.words.map((word) => this.#word(word));
    const placed = this.#placed(segment);
    const [first, last] = [words[0], words.at(-1)];
    const start = Math.max(placed.start, first?.timesClamped ? first.start : 0);
    const end = last?.timesClamped ? Math.min(placed.end, last.end) : placed.end;
    const placedSegment = { ...segment, start, end: Math.max(start, end), words };
    if (segment.overlaps === undefined) return placedSegment;
    const overlaps = segment.overlaps.map(({ cluster, ...span }) => {
      const { start, end } = this.#placed(span);
      return { start, end, cluster };
    });
    return { ...placedSegment, overlaps };
  }

  #word(word: RecognisedWord): Word {
    const { start, end, isClamped } = this.#placed(word);
    const length = word.end - word.start;
    if (end - start > Math.max(1, length)) {
      // The word reaches over a span that was not read: it is placed where most of it lies.
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
   * The place of a start. Where the sound of a chunk ends, it belongs to the next chunk. In sound
   * without room it belongs to the chunk's place, at its last sample.
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

  /** The place of an end. At the end of sound without room, it belongs to that sound. */
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
