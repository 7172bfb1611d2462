import { UNCLEAR_LEGEND } from "../../base/unclear-words.ts";
import type { SegmentRecord } from "./segments.ts";
import { hasUnclear, markedText } from "./transcript-marks.ts";

/** Characters that Markdown would read as formatting. */
function escapeText(text: string): string {
  return text.replace(/([\\`*_{}[\]<>#|])/g, "\\$1");
}

/**
 * A transcript as Markdown: a heading, then a paragraph for each run of one speaker. What its
 * marks of unclear words mean is told under the heading; in Markdown they are plain text.
 */
export function toMarkdown(
  title: string,
  segments: readonly SegmentRecord[],
  names: ReadonlyMap<string, string>,
): string {
  const blocks: { label: string; texts: string[] }[] = [];
  for (const segment of segments) {
    if (segment.text === "") continue;
    const { label } = segment;
    const text = markedText(segment, escapeText);
    const last = blocks.at(-1);
    if (last?.label === label) last.texts.push(text);
    else blocks.push({ label, texts: [text] });
  }
  const heading = title.trim() === "" ? "Transcript" : escapeText(title.trim());
  const legend = segments.some(hasUnclear) ? [`*${UNCLEAR_LEGEND}*\n`] : [];
  const paragraphs = blocks.map(
    ({ label, texts }) => `**${escapeText(names.get(label) ?? label)}:** ${texts.join(" ")}\n`,
  );
  return [`# ${heading}\n`, ...legend, ...paragraphs].join("\n");
}
