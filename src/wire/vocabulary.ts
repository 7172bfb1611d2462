import { Type } from "@sinclair/typebox";

/** Words and phrases that a recogniser should expect. */
export const vocabularySchema = (description: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
    maxItems: 500,
    description,
    examples: [["Rüti", "Kubernetes", "Project Harbour"]],
  });

/** Most words and phrases that a reading is told of. */
const MOST_SENT = 1_000;

/**
 * The lists as one, each word or phrase once, whatever its capitals, as it is first written; the
 * first lists come first where there are too many.
 */
export function joinVocabulary(...lists: readonly (readonly string[])[]): string[] {
  const joined = new Map<string, string>();
  for (const phrase of lists.flat()) {
    const key = phrase.trim().toLowerCase();
    if (key !== "" && !joined.has(key)) joined.set(key, phrase.trim());
  }
  return [...joined.values()].slice(0, MOST_SENT);
}
