import { SESSION_RATE } from "../../base/audio/sample-rate.ts";
import { clockTime } from "../../base/clock-time.ts";
import { UNCLEAR_LEGEND } from "../../base/unclear-words.ts";
import type { SegmentRecord } from "./segments.ts";
import { hasUnclear, markedText } from "./transcript-marks.ts";

/**
 * A transcript as plain text: a line `[00:12] S1: words` for each segment, with
 * the display name in place of a label that somebody claimed. What its marks of
 * unclear words mean is told at the end.
 */
export function transcriptText(
  segments: readonly SegmentRecord[],
  names: ReadonlyMap<string, string>,
): string {
  const lines = segments
    .filter((segment) => segment.text !== "")
    .map((segment) => {
      const speaker = names.get(segment.label) ?? segment.label;
      return `[${clockTime(segment.start / SESSION_RATE)}] ${speaker}: ${markedText(segment)}\n`;
    });
  if (segments.some(hasUnclear)) lines.push(`\n${UNCLEAR_LEGEND}\n`);
  return lines.join("");
}
