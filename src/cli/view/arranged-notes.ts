import type { operations } from "../../client/gen/api-schema.ts";

type Page = operations["listSummaries"]["responses"]["200"]["content"]["application/json"];
type Summary = Page["items"][number];

/** A section of a template, with what stands in it. */
interface ArrangedSection {
  readonly title: string;
  readonly kind: Page["template"]["sections"][number]["kind"];
  readonly text: string;
  readonly items: Summary["items"];
}

const NOTHING = "Nothing was found for this.";

/** The notes as their template arranges them; a section without any says so. */
export function arrangedNotes({
  items: summaries,
  template,
}: Pick<Page, "items" | "template">): ArrangedSection[] {
  return template.sections.map(({ title, kind }) => {
    const type = kind === "custom" ? "custom_sections" : kind;
    const summary = summaries.find(({ summary_type }) => summary_type === type);
    if (kind !== "custom") {
      return { title, kind, text: summary?.text || NOTHING, items: summary?.items ?? [] };
    }
    const items = (summary?.items ?? []).filter(({ section }) => section === title);
    const lines = items.map(({ text }) => `- ${text}`);
    return { title, kind, text: lines.join("\n") || NOTHING, items };
  });
}
