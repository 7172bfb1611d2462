import { UNCLEAR_LEGEND } from "../base/unclear-words.ts";
import type { SegmentRecord } from "./segments.ts";
import { hasUnclear, markedText } from "./transcript-marks.ts";

/** `00:12`, from an hour on `1:00:12`. */
function clockTime(samples: number): string {
  const seconds = Math.floor(samples / 16_000);
  const pad = (value: number): string => String(value).padStart(2, "0");
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${pad(minutes)}:${pad(seconds % 60)}`;
  return `${Math.floor(minutes / 60)}:${pad(minutes % 60)}:${pad(seconds % 60)}`;
}

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
      return `[${clockTime(segment.start)}] ${speaker}: ${markedText(segment)}\n`;
    });
  if (segments.some(hasUnclear)) lines.push(`\n${UNCLEAR_LEGEND}\n`);
  return lines.join("");
}
