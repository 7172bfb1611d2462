import { derivedId } from "../base/ids.ts";

/** A span in samples at 16 kHz, from `start` up to but not including `end`. */
export interface Span {
  start: number;
  end: number;
}

/** The id of a segment: the same for every reading of the same attempt. */
export function segmentId(sessionId: string, attempt: number, start: number): string {
  return derivedId(sessionId, attempt, start);
}

/** A final segment without its words, as decisions need it. */
export interface SegmentMark {
  id: string;
  start: number;
  end: number;
  label: string;
  cluster: number;
  /** Rises with every edit by a person; 1 until then. */
  revision?: number;
  redacted?: true;
  /** The label that it had before a person merged labels; its cluster may be another one's. */
  own?: string;
  /** A person chose its speaker: the recognition does not change it any more. */
  chosen?: true;
}

/** Index of the first segment that starts at or after `position`; segments are in order. */
export function firstFrom(segments: readonly SegmentMark[], position: number): number {
  let low = 0;
  let high = segments.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const mark = segments[middle];
    if (mark !== undefined && mark.start < position) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The segment that starts exactly at `start`. */
export function segmentAt(
  segments: readonly SegmentMark[],
  start: number,
): SegmentMark | undefined {
  const mark = segments[firstFrom(segments, start)];
  return mark?.start === start ? mark : undefined;
}

/** Inserts a segment at its place, usually the end. */
export function insertSegment(segments: SegmentMark[], mark: SegmentMark): void {
  segments.splice(firstFrom(segments, mark.start), 0, mark);
}

/** How many labels have at least one segment. */
export function speakersHeard(segments: readonly SegmentMark[]): number {
  const labels = new Set(segments.map((mark) => mark.label));
  labels.delete("UU");
  return labels.size;
}
