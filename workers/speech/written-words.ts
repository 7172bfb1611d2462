import { SESSION_RATE } from "../../src/base/audio/sample-rate.ts";
import { isEnglish } from "../../src/language/english.ts";
import { restoreText } from "../../src/language/restore-text.ts";
import type { RecognisedWord } from "./recogniser.ts";

/**
 * The words of an utterance with capitals and sentence marks, so that every surface shows the same
 * text whatever model read it. Most models write them; where one wrote none, English gets them by
 * rule. Other languages stay as they were recognised.
 *
 * @param language of the utterance, a primary subtag
 */
export function writtenWords(words: readonly RecognisedWord[], language: string): RecognisedWord[] {
  const texts = words.map(({ text }) => text);
  if (!isEnglish(language) || texts.some(isMarked)) return [...words];
  const timed = words.map(({ text, start, end }) => ({
    text: text.toLowerCase(),
    start: start / SESSION_RATE,
    end: end / SESSION_RATE,
  }));
  const [written = []] = restoreText([{ speaker: "", words: timed }], []);
  return words.map((word, place) => ({ ...word, text: written[place] ?? word.text }));
}

/** A word that shows that its model tells large letters from small ones, or writes sentence marks. */
function isMarked(text: string): boolean {
  return /[.?!]$/u.test(text) || (/\p{Lu}/u.test(text) && /\p{Ll}/u.test(text));
}
