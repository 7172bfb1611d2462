import { expect, it } from "vitest";
import { moved, toEdited, toSections } from "../../../src/web/views/workspaces/edited-sections.ts";

const SECTIONS = [
  { title: "In brief", kind: "brief" as const },
  { title: "Prices", kind: "custom" as const, instruction: "the price" },
  { title: "To do", kind: "action_items" as const },
];

it("sections of a template: as they came, they go back, with words of their own where these count", () => {
  const edited = SECTIONS.map(toEdited);
  expect(new Set(edited.map(({ key }) => key)).size).toBe(3);
  expect(toSections(edited)).toEqual(SECTIONS);
  const changed = edited.map((each) => ({ ...each, kind: "topics" as const }));
  expect(toSections(changed)).toEqual(SECTIONS.map(({ title }) => ({ title, kind: "topics" })));
});

it("sections of a template: what stands in lines of its own is looked for one by one", () => {
  const instruction = "the price\n the budget;\n\n a discount; costs\n";
  const [section] = toSections([toEdited({ title: "Prices", kind: "custom", instruction })]);
  expect(section?.instruction).toBe("the price; the budget; a discount; costs");
});

it("sections of a template: one goes up or down a place, and nowhere from either end", () => {
  const edited = SECTIONS.map(toEdited);
  const titles = (at: number, by: 1 | -1) => moved(edited, at, by).map(({ title }) => title);
  expect(titles(0, 1)).toEqual(["Prices", "In brief", "To do"]);
  expect(titles(2, -1)).toEqual(["In brief", "To do", "Prices"]);
  expect(moved(edited, 0, -1)).toBe(edited);
  expect(moved(edited, 2, 1)).toBe(edited);
});
