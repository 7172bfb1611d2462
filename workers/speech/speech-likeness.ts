import { SESSION_RATE } from "../../src/base/audio/sample-rate.ts";
import type { RecognisedWord } from "./recogniser.ts";

/**
 * Words are shorter than this on average; steady hums and tones are recognised as one endless "mm".
 */
const LONGEST_MEAN = 1.5 * SESSION_RATE;
/** From this length on, words must fill some of an utterance; over music they fill little. */
const JUDGED_LENGTH = 3 * SESSION_RATE;
const LEAST_FILLED = 0.15;
/** Struck notes are recognised as one word, repeated. */
const LEAST_REPEATED = 8;
const REPEATED_SHARE = 0.8;
/** A beat is recognised as the same few words again and again; in speech more than half are different. */
const LEAST_VARIED = 12;
const DIFFERENT_SHARE = 0.3;

/**
 * False when the words of the utterance [start, end) look like those that the recogniser produces
 * from hum, tones and music. The bounds are far from all values measured on speech, where words
 * fill 35 % and more of an utterance and last 0.2 to 0.6 s on average.
 */
export function isLikelySpeech(
  words: readonly RecognisedWord[],
  start: number,
  end: number,
): boolean {
  if (words.length === 0) return false;
  const spoken = words.reduce((total, word) => total + word.end - word.start, 0);
  if (spoken / words.length > LONGEST_MEAN) return false;
  if (end - start >= JUDGED_LENGTH && spoken < LEAST_FILLED * (end - start)) return false;
  if (words.length >= LEAST_REPEATED && mostFrequent(words) >= REPEATED_SHARE * words.length) {
    return false;
  }
  const different = new Set(words.map(({ text }) => text)).size;
  return words.length < LEAST_VARIED || different > DIFFERENT_SHARE * words.length;
}

function mostFrequent(words: readonly RecognisedWord[]): number {
  const counts = new Map<string, number>();
  for (const { text } of words) counts.set(text, (counts.get(text) ?? 0) + 1);
  return Math.max(...counts.values());
}
