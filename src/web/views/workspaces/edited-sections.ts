import type { NoteSection } from "../../api/records.ts";

/** A section of a template while somebody changes it. */
export interface EditedSection {
  /** Tells it from the others while titles change. */
  readonly key: number;
  readonly title: string;
  readonly kind: NoteSection["kind"];
  /** Kept while another kind is looked at. */
  readonly instruction: string;
}

let keys = 0;

export function toEdited({ title, kind, instruction = "" }: NoteSection): EditedSection {
  keys += 1;
  return { key: keys, title, kind, instruction };
}

/** As the service takes them: lines become parts of an instruction. */
export function toSections(edited: readonly EditedSection[]): NoteSection[] {
  return edited.map(({ title, kind, instruction }) => ({
    ...{ title, kind },
    ...(kind === "custom" && { instruction: instruction.trim().replace(/;?\s*\n\s*/gu, "; ") }),
  }));
}

/** One place up or down; as it is at either end. */
export function moved(
  sections: readonly EditedSection[],
  at: number,
  by: 1 | -1,
): readonly EditedSection[] {
  const section = sections[at];
  const other = sections[at + by];
  if (section === undefined || other === undefined) return sections;
  return sections.map((each, n) => (n === at ? other : n === at + by ? section : each));
}
