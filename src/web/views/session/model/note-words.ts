import type { NoteSection, Summary } from "../../../api/records.ts";

const LABEL = /^S\d+$/;
const UNCLEAR = /\[([^[\]]+)\?\]/;
const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** The kind of notes of which a section of a template is a part. */
export function kindOf({ kind }: Pick<NoteSection, "kind">): Summary["summary_type"] {
  return kind === "custom" ? "custom_sections" : kind;
}

/** The heading of a part of the notes, who said it, or an owner: a speaker by the name that they have now. */
export function nameIn(said: string, nameOf: (label: string) => string): string {
  return LABEL.test(said) ? nameOf(said) : said;
}

interface Heard {
  readonly text: string;
  /** Words that were not heard clearly. */
  readonly isUnclear: boolean;
}

/** The parts of a sentence of the notes, where runs of unclear words are in brackets, `to [tunisia and?] back`. */
export function heardParts(text: string): readonly Heard[] {
  return text
    .split(UNCLEAR)
    .map((part, n) => ({ text: part, isUnclear: n % 2 === 1 }))
    .filter((part) => part.text !== "");
}

/** A day that was chosen, as `2026-12-02`; "" where the time stands in words. */
export function dayIn(due: string): string {
  return DAY.test(due) && !Number.isNaN(Date.parse(due)) ? due : "";
}

interface WordedNotes {
  readonly model?: string | undefined;
  readonly dropped_sentences: number;
}

/** Who worded notes, as one line below them; empty where they are by rule. */
export function wordedBy({ model, dropped_sentences: dropped }: WordedNotes): string {
  if (model === undefined) return "";
  const [were, it] = dropped === 1 ? ["was", "it"] : ["were", "them"];
  const left =
    dropped === 0
      ? ""
      : ` ${dropped} of its sentences ${were} left out, as nothing that was said bears ${it}.`;
  return `Worded by the language model ${model} from the lines that it leads to.${left}`;
}

interface DueWords {
  readonly text: string;
  /** True when the day is over and it is not done. */
  readonly isLate: boolean;
}

/** By when something is to be done: a day as people write it, or what was said. */
export function dueWords(due: string, isDone: boolean, now = new Date()): DueWords {
  const day = dayIn(due);
  if (day === "") return { text: due, isLate: false };
  const [year = 0, month = 1, date = 1] = day.split("-").map(Number);
  const end = new Date(year, month - 1, date + 1);
  const format = { weekday: "short", day: "numeric", month: "short", year: "numeric" } as const;
  const text = new Intl.DateTimeFormat(undefined, format).format(new Date(year, month - 1, date));
  return { text: `by ${text}`, isLate: !isDone && end <= now };
}
