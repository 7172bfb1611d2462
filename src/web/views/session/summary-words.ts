interface SaidItem {
  readonly text: string;
  readonly owner?: string | undefined;
  /** As it was spoken: "by Wednesday", "next week", "Friday". */
  readonly due?: string | undefined;
}

interface WordedSummary {
  readonly model?: string | undefined;
  readonly dropped_sentences: number;
}

const WITH_PREPOSITION =
  /^(by|before|until|till|on|at|in|within|after|from|due|no later than|next|this|today|tonight|tomorrow)\b/i;
const LABEL = /^S\d+$/;

/** An item of a summary in one line: what was said, and who does it by when, as far as it is not said. */
export function itemWords(
  { text, owner = "", due = "" }: SaidItem,
  nameOf: (label: string) => string,
): string {
  const who = LABEL.test(owner) ? nameOf(owner) : owner;
  const isSaid = text.toLowerCase().includes(due.toLowerCase());
  const when = isSaid || due === "" || WITH_PREPOSITION.test(due) ? due : `by ${due}`;
  const more = [who, isSaid ? "" : when].filter((part) => part !== "").join(", ");
  return more === "" ? text : `${text} (${more})`;
}

/** The heading of a part of a summary: a speaker by the name that they have now. */
export function sectionTitle(section: string, nameOf: (label: string) => string): string {
  return LABEL.test(section) ? nameOf(section) : section;
}

/** Who worded a summary, as one line below it; empty where it is by rule. */
export function wordedBy({ model, dropped_sentences: dropped }: WordedSummary): string {
  if (model === undefined) return "";
  const left =
    dropped === 0
      ? ""
      : ` ${dropped} of its sentences ${dropped === 1 ? "was" : "were"} left out, as nothing that was said bears ${dropped === 1 ? "it" : "them"}.`;
  return `Worded by the language model ${model} from the lines that it leads to.${left}`;
}

/** A sentence of a language model, which begins with a speaker's label, by the name that they have now. */
export function wordedText(text: string, nameOf: (label: string) => string): string {
  return text.replace(/^S\d+(?=\s)/, nameOf);
}
