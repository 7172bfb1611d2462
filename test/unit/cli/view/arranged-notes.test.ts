import { expect, it } from "vitest";
import { arrangedNotes } from "../../../../src/cli/commands/summary.ts";

type Page = Parameters<typeof arrangedNotes>[0];

const item = (text: string, section?: string) => ({
  ...{ text, segment_ids: ["s"], start_ms: 0 },
  ...(section !== undefined && { section }),
});
const summary = (type: Page["items"][number]["summary_type"], text: string, items: object[]) =>
  ({ summary_type: type, text, items }) as Page["items"][number];

it("notes by a template: its headings in order, with what stands under each", () => {
  const items = [
    summary("decisions", "- We go.", [item("We go.")]),
    summary("custom_sections", "Prices\n- Ten.", [item("Ten.", "Prices"), item("Two.", "Prices")]),
  ];
  const sections: Page["template"]["sections"] = [
    { title: "Prices", kind: "custom", instruction: "the price" },
    { title: "Risks", kind: "custom", instruction: "a risk" },
    { title: "Agreed", kind: "decisions" },
    { title: "In brief", kind: "brief" },
  ];
  const template = { id: "sales_call" as const, title: "Sales call", sections };
  expect(arrangedNotes({ items, template })).toEqual([
    {
      ...{ title: "Prices", kind: "custom", text: "- Ten.\n- Two." },
      items: [item("Ten.", "Prices"), item("Two.", "Prices")],
    },
    { title: "Risks", kind: "custom", text: "Nothing was found for this.", items: [] },
    { title: "Agreed", kind: "decisions", text: "- We go.", items: [item("We go.")] },
    { title: "In brief", kind: "brief", text: "Nothing was found for this.", items: [] },
  ]);
});
