import { CUSTOM_SECTIONS } from "../../session/status.ts";
import type { WrittenNotes } from "../transcript/writing/document-parts.ts";
import type { SummaryRecord } from "./store.ts";
import type { NoteTemplate } from "./templates.ts";

/** A session's notes in the order and under the headings of a template; sections without any are left out. */
export function arrangeNotes(
  { sections }: Pick<NoteTemplate, "sections">,
  summaries: readonly Pick<SummaryRecord, "summaryType" | "model" | "items">[],
): WrittenNotes[] {
  return sections.flatMap(({ title, kind }) => {
    const type = kind === "custom" ? CUSTOM_SECTIONS : kind;
    const summary = summaries.find(({ summaryType }) => summaryType === type);
    if (summary === undefined) return [];
    const { model } = summary;
    const items = summary.items.filter(({ section }) => kind !== "custom" || section === title);
    return items.length === 0
      ? []
      : [{ title, kind, items, ...(model !== undefined && { model }) }];
  });
}
