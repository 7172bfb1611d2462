import { SESSION_RATE } from "../../../src/base/audio/sample-rate.ts";
import type { RecognisedWord } from "../recogniser.ts";
import { spreadWords } from "../spread-words.ts";
import type { SherpaResult } from "./sherpa-package.ts";

/** Marks the beginning of a word in tokens of SentencePiece. */
const WORD_MARK = "▁";
/** A word's last token is not longer than this, seconds. */
const LAST_TOKEN = 0.3;
/** The engines tell no confidence that means the same from model to model. */
const UNTOLD = 0;

/**
 * The words of a result, for an utterance of [start, end) samples. Their times come from those of
 * their tokens where each word of the text begins with one; else they are shared out.
 *
 * @param text of the result, with punctuation restored if it was
 */
export function tokenWords(
  { tokens = [], timestamps = [], text: raw }: SherpaResult,
  text: string,
  start: number,
  end: number,
): RecognisedWord[] {
  const written = wordsOf(text);
  const begins = tokens.flatMap((token, at) => (beginsWord(token, at) ? [at] : []));
  const isTimed = timestamps.length === tokens.length && begins.length === wordsOf(raw).length;
  if (!isTimed || begins.length !== written.length) return spreadWords(text, start, end, UNTOLD);
  const at = (seconds: number): number =>
    Math.max(start, Math.min(end, start + Math.round(seconds * SESSION_RATE)));
  return begins.map((token, place) => {
    const next = begins[place + 1] ?? tokens.length;
    const last = timestamps[next - 1] ?? 0;
    const until = Math.min(timestamps[next] ?? Number.POSITIVE_INFINITY, last + LAST_TOKEN);
    const from = at(timestamps[token] ?? 0);
    return {
      text: written[place] ?? "",
      start: from,
      end: Math.max(from, at(until)),
      confidence: UNTOLD,
    };
  });
}

function beginsWord(token: string, at: number): boolean {
  return at === 0 || token.startsWith(WORD_MARK) || token.startsWith(" ");
}

function wordsOf(text: string): string[] {
  return text.split(/\s+/u).filter((word) => word !== "");
}
