/** Told once where a text for people holds such a mark. */
export const UNCLEAR_LEGEND = "Words in [brackets?] were not heard clearly.";

/** The places, counted from 0, of the words that are unclear. */
export function unclearPlaces(words: readonly { unclear?: boolean | undefined }[]): number[] {
  return words.flatMap(({ unclear }, place) => (unclear === true ? [place] : []));
}

/** The words as one text in which a run of unclear ones stands in brackets: `to [tunisia and?] back`. */
export function markUnclear(words: readonly string[], unclear: readonly number[]): string {
  const places = new Set(unclear);
  return words
    .map((word, place) => {
      if (!places.has(place)) return word;
      return `${places.has(place - 1) ? "" : "["}${word}${places.has(place + 1) ? "" : "?]"}`;
    })
    .join(" ");
}
