import type { CustomSection, SummaryItem } from "../../../src/wire/gen/voice/v1/text.ts";

const NOTHING = "Nothing was found for this.";

/** Items under the headings of their sections, in the order of these; what has none says so. */
export function sectionedText(
  sections: readonly CustomSection[],
  items: readonly SummaryItem[],
): string {
  const parts = sections.map(({ title }) => {
    const lines = items.filter(({ section }) => section === title).map(({ text }) => `- ${text}`);
    return [title, ...(lines.length === 0 ? [NOTHING] : lines)].join("\n");
  });
  return parts.join("\n\n");
}
