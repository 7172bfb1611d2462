import { derivedId } from "../base/ids.ts";

/** Samples at 16 kHz; both ends as everywhere, the second one not included. */
export interface Span {
  start: number;
  end: number;
}

/** The id of a segment: the same for every reading of the same attempt. */
export function segmentId(sessionId: string, attempt: number, start: number): string {
  return derivedId(sessionId, attempt, start);
}

/** A final segment without its words: what decisions need to know of it. */
export interface SegmentMark {
  id: string;
  start: number;
  end: number;
  label: string;
  cluster: number;
  /** Rises with every edit by a person; 1 until then. */
  revision?: number;
  redacted?: true;
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

/** The segment that starts exactly there. */
export function segmentAt(
  segments: readonly SegmentMark[],
  start: number,
): SegmentMark | undefined {
  const mark = segments[firstFrom(segments, start)];
  return mark?.start === start ? mark : undefined;
}

/** Adds a segment at its place; the usual place is the end. */
export function insertSegment(segments: SegmentMark[], mark: SegmentMark): void {
  segments.splice(firstFrom(segments, mark.start), 0, mark);
}

/** Labels that own at least one segment. */
export function speakersHeard(segments: readonly SegmentMark[]): number {
  const labels = new Set(segments.map((mark) => mark.label));
  labels.delete("UU");
  return labels.size;
}
