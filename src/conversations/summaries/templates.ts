import { isDeepStrictEqual } from "node:util";
import { AppError } from "../../base/errors.ts";
import {
  CUSTOM_SECTIONS,
  NOTE_TEMPLATES,
  NOTE_TYPES,
  type NoteTemplateId,
  type SummaryType,
} from "../../session/status.ts";
import type { CustomSection } from "../../wire/gen/voice/v1/text.ts";

/** What a section has: the notes of a type, or what its instruction says. */
export const SECTION_KINDS = [...NOTE_TYPES, "custom"] as const;

/** A heading of the notes, with what stands under it. */
export interface TemplateSection {
  title: string;
  kind: (typeof SECTION_KINDS)[number];
  /** Of kind `custom`, and then always: what is wanted, in the workspace's words. */
  instruction?: string | undefined;
}

/** How notes are arranged. */
export interface NoteTemplate {
  id: NoteTemplateId;
  title: string;
  sections: readonly TemplateSection[];
}

export const MOST_SECTIONS = 12;
export const MOST_CUSTOM = 6;
export const LONGEST_TITLE = 80;
export const LONGEST_INSTRUCTION = 500;

/** As they are where a workspace has no version of its own. */
const BUILT_IN: Readonly<Record<NoteTemplateId, Omit<NoteTemplate, "id">>> = {
  general: {
    title: "General",
    sections: [
      { title: "In brief", kind: "brief" },
      { title: "Action items", kind: "action_items" },
      { title: "Decisions", kind: "decisions" },
      { title: "Open questions", kind: "open_questions" },
      { title: "Topics", kind: "topics" },
      { title: "In detail", kind: "detailed" },
    ],
  },
  interview: {
    title: "Interview",
    sections: [
      { title: "In brief", kind: "brief" },
      custom("Background", "their experience; a former employer; what they studied; a degree"),
      custom("Strengths", "their strength; an achievement; what they are proud of"),
      custom("Motivation", "why they applied; their motivation; the position"),
      custom("Concerns", "a weakness; a concern; a difficulty"),
      { title: "Open questions", kind: "open_questions" },
      { title: "Next steps", kind: "action_items" },
      { title: "In detail", kind: "detailed" },
    ],
  },
  standup: {
    title: "Standup",
    sections: [
      custom("Done", "what was finished; what was fixed; what was merged; what was released"),
      { title: "Next", kind: "action_items" },
      custom("In the way", "what is blocked; what they are waiting for; which problem they have"),
      { title: "Decisions", kind: "decisions" },
      { title: "Open questions", kind: "open_questions" },
    ],
  },
  sales_call: {
    title: "Sales call",
    sections: [
      { title: "In brief", kind: "brief" },
      custom("Needs", "what they need; what they are “looking for”; which problem they have"),
      custom("Price and budget", "the price; the budget; what it costs; a discount"),
      custom("Concerns", "what is too expensive; what worries them; a concern; a risk"),
      custom("Competitors", "a competitor; another vendor; an alternative"),
      { title: "Agreed", kind: "decisions" },
      { title: "Next steps", kind: "action_items" },
      { title: "Open questions", kind: "open_questions" },
    ],
  },
  lecture: {
    title: "Lecture",
    sections: [
      { title: "In brief", kind: "brief" },
      { title: "Topics", kind: "topics" },
      custom("Definitions", "what it is called; what is meant"),
      custom("Examples", "an example"),
      custom("To do", "the homework; the assignment; the exam; the deadline"),
      { title: "Questions", kind: "open_questions" },
      { title: "In detail", kind: "detailed" },
    ],
  },
};

function custom(title: string, instruction: string): TemplateSection {
  return { title, kind: "custom", instruction };
}

/** The template as it is built in. */
export function builtIn(id: NoteTemplateId): NoteTemplate {
  return { id, ...BUILT_IN[id] };
}

export function isTemplateId(id: string): id is NoteTemplateId {
  return (NOTE_TEMPLATES as readonly string[]).includes(id);
}

/** What the template wants in the workspace's words, in order. */
export function customSections({ sections }: Pick<NoteTemplate, "sections">): CustomSection[] {
  return sections.flatMap(({ title, instruction }) =>
    instruction === undefined ? [] : [{ title, instruction }],
  );
}

/** The types of summaries that a session of the template gets without being asked for. */
export function noteTypesOf(template: Pick<NoteTemplate, "sections">): SummaryType[] {
  return customSections(template).length === 0 ? [...NOTE_TYPES] : [...NOTE_TYPES, CUSTOM_SECTIONS];
}

/** True when a summary that was made for some sections is no longer what the template wants. */
export function isForOthers(
  made: readonly CustomSection[] | undefined,
  template: Pick<NoteTemplate, "sections">,
): boolean {
  return made !== undefined && !isDeepStrictEqual(made, customSections(template));
}

/** Throws `invalid_body`, naming the section that cannot be in a template. */
export function assertSections(sections: readonly TemplateSection[]): void {
  const titles = new Set<string>();
  const kinds = new Set<string>();
  for (const [at, { title, kind, instruction }] of sections.entries()) {
    const place = `Section ${at + 1}, “${title}”`;
    const key = title.toLowerCase();
    if (titles.has(key)) throw refused(`${place}: another section has this title.`);
    titles.add(key);
    if (kind === "custom") {
      if (instruction === undefined) {
        throw refused(`${place}: say in \`instruction\` what it is to have.`);
      }
      continue;
    }
    if (instruction !== undefined) {
      throw refused(`${place}: only sections of kind \`custom\` have an \`instruction\`.`);
    }
    if (kinds.has(kind)) throw refused(`${place}: another section has the kind \`${kind}\`.`);
    kinds.add(kind);
  }
  const most = customSections({ sections }).length;
  if (most > MOST_CUSTOM) {
    throw refused(`A template has at most ${MOST_CUSTOM} sections of kind \`custom\`.`);
  }
}

function refused(message: string): AppError {
  return new AppError("invalid_body", message);
}
