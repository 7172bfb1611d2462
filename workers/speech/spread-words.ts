import { SESSION_RATE } from "../../src/base/audio/sample-rate.ts";
import type { RecognisedWord } from "./recogniser.ts";

/** A word is not longer than this for each of its characters: 150 ms. */
const LONGEST_CHARACTER = 0.15 * SESSION_RATE;

/**
 * Words of a text for which no times are known: each gets a share of [start, end), samples, by its
 * number of characters.
 */
export function spreadWords(
  text: string,
  start: number,
  end: number,
  confidence: number,
): RecognisedWord[] {
  const words = text.split(/\s+/u).filter((word) => word !== "");
  const total = words.reduce((sum, word) => sum + word.length, 0);
  let characters = 0;
  return words.map((word) => {
    const from = start + Math.round(((end - start) * characters) / total);
    characters += word.length;
    const share = start + Math.round(((end - start) * characters) / total);
    const to = Math.min(share, from + Math.round(LONGEST_CHARACTER * word.length));
    return { text: word, start: from, end: Math.max(from, to), confidence };
  });
}
