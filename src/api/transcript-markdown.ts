import type { SegmentRecord } from "./segments.ts";

/** Characters that Markdown would read as formatting. */
function escapeText(text: string): string {
  return text.replace(/([\\`*_{}[\]<>#|])/g, "\\$1");
}

/** A transcript as Markdown: a heading, then a paragraph for each run of one speaker. */
export function toMarkdown(
  title: string,
  segments: readonly SegmentRecord[],
  names: ReadonlyMap<string, string>,
): string {
  const blocks: { label: string; texts: string[] }[] = [];
  for (const { label, text } of segments) {
    if (text === "") continue;
    const last = blocks.at(-1);
    if (last?.label === label) last.texts.push(text);
    else blocks.push({ label, texts: [text] });
  }
  const heading = title.trim() === "" ? "Transcript" : escapeText(title.trim());
  const paragraphs = blocks.map(
    ({ label, texts }) =>
      `**${escapeText(names.get(label) ?? label)}:** ${escapeText(texts.join(" "))}\n`,
  );
  return [`# ${heading}\n`, ...paragraphs].join("\n");
}
