/** Words of a line with capitals and sentence marks, for the words that it had when they were made. */
export interface Readable {
  readonly raw: string;
  readonly words: readonly string[];
}

/**
 * Takes a readable text apart into the words of the raw one. Undefined where both do not fit word by
 * word: then the raw one is shown, as times and marks go by its words.
 */
export function readableWords(raw: string, text: string): Readable | undefined {
  const words = text.split(" ");
  const plain = raw.split(" ");
  const fits =
    words.length === plain.length && words.every((word, n) => bare(word) === bare(plain[n] ?? ""));
  return fits ? { raw, words } : undefined;
}

function bare(word: string): string {
  return word.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "");
}
