import type { Token } from "./tokens.ts";

/** A time in a text: a day, a month, or what it is from today. */
export interface Moment {
  /** Equal for equal times: "monday", "next week". */
  key: string;
  /** Its words: `at` included, `to` not. */
  at: number;
  to: number;
}

const DAYS = "monday tuesday wednesday thursday friday saturday sunday".split(" ");
const MONTHS =
  "january february march april may june july august september october november december".split(
    " ",
  );
/** Months that are other words as well. */
const AMBIGUOUS = new Set(["march", "may"]);
const RELATIVE = new Set(
  "today tomorrow yesterday tonight weekend midnight noon morning afternoon evening".split(" "),
);
const WHICH = new Set("next last this past coming previous".split(" "));
const SAME = new Map([
  ["coming", "next"],
  ["past", "last"],
  ["previous", "last"],
]);
const SPANS = new Set(
  "week month year quarter spring summer autumn winter meeting time day decade".split(" "),
);
const SEASONS = new Set("spring summer autumn winter christmas easter".split(" "));

/** Days, months and relative times of an English text. */
export function findMoments(tokens: readonly Token[]): Moment[] {
  return tokens.flatMap(({ word }, at) => {
    const single = word.replace(/s$/u, "");
    if (DAYS.includes(single)) return [{ key: single, at, to: at + 1 }];
    if (isMonth(tokens, at)) return [{ key: word, at, to: at + 1 }];
    if (RELATIVE.has(single)) return [{ key: single, at, to: at + 1 }];
    const next = tokens[at + 1]?.word.replace(/s$/u, "") ?? "";
    if (WHICH.has(word) && SPANS.has(next))
      return [{ key: `${SAME.get(word) ?? word} ${next}`, at, to: at + 2 }];
    return SEASONS.has(word) ? [{ key: word, at, to: at + 1 }] : [];
  });
}

function isMonth(tokens: readonly Token[], at: number): boolean {
  const { word = "", written = "" } = tokens[at] ?? {};
  if (!MONTHS.includes(word)) return false;
  if (!AMBIGUOUS.has(word)) return true;
  const before = tokens[at - 1]?.word ?? "";
  const after = tokens[at + 1]?.word ?? "";
  if (
    /^(?:in|of|by|until|till|since|before|after|from|during|last|next|early|late|mid|this)$/u.test(
      before,
    )
  ) {
    return true;
  }
  return /^\p{N}/u.test(after) || /^\p{N}/u.test(before) || (at > 0 && /^\p{Lu}/u.test(written));
}
