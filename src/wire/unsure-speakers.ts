/** Below it a speaker is shown as a guess: the next likely voice is not much less likely. */
const UNSURE_BELOW = 0.6;

/** Explains the mark; shown once in a text that contains it. */
export const UNSURE_LEGEND = "A name with a question mark is a guess: it is not sure who speaks.";

/** True when the confidence in a speaker is known and low. */
export function isUnsure(speakerConfidence: number | null | undefined): boolean {
  return typeof speakerConfidence === "number" && speakerConfidence < UNSURE_BELOW;
}

/** A speaker's name as people see it: `S1`, or `S1?` when it is a guess. */
export function markUnsure(name: string, unsure: boolean): string {
  return unsure ? `${name}?` : name;
}
