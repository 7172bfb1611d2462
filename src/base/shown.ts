const LONGEST = 80;
/** Neither space nor control, and nothing that changes how the text around it is read. */
const UNSHOWN = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu;

/** What a caller wrote, fit to stand in a sentence: one line of bounded length. */
export function shown(text: string): string {
  const plain = text.slice(0, LONGEST + 1).replaceAll(UNSHOWN, "?");
  return plain.length > LONGEST ? `${plain.slice(0, LONGEST)}…` : plain;
}
