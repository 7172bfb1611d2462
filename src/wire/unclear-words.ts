/** Explains the mark; shown once in a text that contains it. */
export const UNCLEAR_LEGEND = "Words in [brackets?] were not heard clearly.";

/** Indexes, from 0, of the unclear words. */
export function unclearIndexes(words: readonly { unclear?: boolean | undefined }[]): number[] {
  return words.flatMap(({ unclear }, place) => (unclear === true ? [place] : []));
}

/**
 * Joins words to a text in which each run of unclear ones is in brackets: `to [tunisia and?] back`.
 */
export function markUnclear(words: readonly string[], unclear: readonly number[]): string {
  const places = new Set(unclear);
  return words
    .map((word, place) => {
      if (!places.has(place)) return word;
      return `${places.has(place - 1) ? "" : "["}${word}${places.has(place + 1) ? "" : "?]"}`;
    })
    .join(" ");
}
