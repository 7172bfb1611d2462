import { describe, expect, it } from "vitest";
import { arrangeNotes } from "../../../../src/conversations/summaries/store.ts";
import {
  assertSections,
  builtIn,
  customSections,
  isForOthers,
  noteTypesOf,
  type TemplateSection,
} from "../../../../src/conversations/summaries/templates.ts";
import { NOTE_TEMPLATES, NOTE_TYPES } from "../../../../src/session/status.ts";

const brief: TemplateSection = { title: "In brief", kind: "brief" };
const prices: TemplateSection = { title: "Prices", kind: "custom", instruction: "the price" };

describe("templates of notes: those that are built in", () => {
  it.each(NOTE_TEMPLATES)("%s could be a workspace's own, and each has some of the notes", (id) => {
    const { sections, title } = builtIn(id);
    expect(title).not.toBe("");
    expect(() => assertSections(sections)).not.toThrow();
    expect(sections.some(({ kind }) => kind !== "custom")).toBe(true);
  });

  it("the general one has all notes, and nothing besides", () => {
    const { sections } = builtIn("general");
    expect(sections.map(({ kind }) => kind).sort()).toEqual([...NOTE_TYPES].sort());
    expect(noteTypesOf({ sections })).toEqual(NOTE_TYPES);
  });
});

describe("templates of notes: what a workspace may make of one", () => {
  const refused: [string, TemplateSection[], RegExp][] = [
    ["two of one title", [brief, { ...prices, title: "IN BRIEF" }], /Section 2, “IN BRIEF”.*title/],
    ["two of one kind", [brief, { ...brief, title: "Again" }], /Section 2, “Again”.*`brief`/],
    ["own words that are missing", [{ title: "Prices", kind: "custom" }], /Section 1.*instruction/],
    ["words for what has none", [{ ...brief, instruction: "x" }], /Section 1.*only.*`custom`/],
    [
      "too many of its own words",
      Array.from({ length: 7 }, (_, n) => ({ ...prices, title: `Prices ${n}` })),
      /at most 6/,
    ],
  ];
  it.each(refused)("not %s", (_what, sections, told) => {
    expect(() => assertSections(sections)).toThrow(told);
  });

  it("several of its own words, and one of each kind", () => {
    const other = { ...prices, title: "Costs" };
    expect(() => assertSections([prices, brief, other])).not.toThrow();
  });
});

describe("templates of notes: sections in a workspace's own words", () => {
  it("are one type of summary beside the others, made for what they say", () => {
    const template = { sections: [brief, prices] };
    const wanted = [{ title: "Prices", instruction: "the price" }];
    expect(customSections(template)).toEqual(wanted);
    expect(noteTypesOf(template)).toEqual([...NOTE_TYPES, "custom_sections"]);
    expect(isForOthers(wanted, template)).toBe(false);
    expect(isForOthers([{ ...wanted[0], title: "Prices", instruction: "costs" }], template)).toBe(
      true,
    );
    expect(isForOthers(wanted, { sections: [brief] })).toBe(true);
    // Summaries of other types are made for no section.
    expect(isForOthers(undefined, template)).toBe(false);
  });

  it("stand in documents where the template has them, without those of other sections", () => {
    const item = (text: string, section?: string) => ({
      ...{ text, startMs: 0, segmentIds: ["s"] },
      ...(section !== undefined && { section }),
    });
    const summaries = [
      { summaryType: "decisions" as const, items: [item("No.")] },
      { summaryType: "brief" as const, items: [item("Yes.")], model: "small" },
      { summaryType: "custom_sections" as const, items: [item("Ten.", "Prices"), item("x", "Y")] },
    ];
    const empty = { title: "Risks", kind: "custom" as const, instruction: "a risk" };
    expect(arrangeNotes({ sections: [prices, empty, brief] }, summaries)).toEqual([
      { title: "Prices", kind: "custom", items: [item("Ten.", "Prices")] },
      { title: "In brief", kind: "brief", items: [item("Yes.")], model: "small" },
    ]);
  });
});
