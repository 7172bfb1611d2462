import { SESSION_RATE } from "../../../base/audio/sample-rate.ts";
import type { SegmentRecord } from "./segment-record.ts";

/**
 * Who spoke when, in NIST's Rich Transcription Time Marked format: a line of type SPEAKER for each
 * segment and for each other voice within it, in order, times in seconds. Names are labels, since
 * the format has no spaces in a name; the file's name is the session's id.
 *
 * Source: NIST, "The 2009 (RT-09) Rich Transcription Meeting Recognition Evaluation Plan", app. A.
 */
export function toRttm(sessionId: string, segments: readonly SegmentRecord[]): string {
  return segments
    .flatMap((segment) => [segment, ...(segment.overlaps ?? [])])
    .filter(({ start, end }) => end > start)
    .sort((one, other) => one.start - other.start)
    .map(({ start, end, label }) => {
      const [from, length] = [start, end - start].map((value) => (value / SESSION_RATE).toFixed(3));
      return `SPEAKER ${sessionId} 1 ${from} ${length} <NA> <NA> ${label} <NA> <NA>\n`;
    })
    .join("");
}
