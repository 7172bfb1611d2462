import type { Decoding } from "./greedy-decoding.ts";
import type { Tokenizer } from "./tokenizer.ts";

/** A word as the network wrote it, with its capitals and marks. */
export interface HeardWord {
  text: string;
  /** Number of its tokens, with what wordless tokens came right before it. */
  tokens: number;
  /** Probability that it is right as the network sees it: of its unlikeliest token. */
  probability: number;
}

const LETTER = /[\p{L}\p{N}]/u;

/** Splits the text of a decoding at its blanks. What has neither letter nor digit is no word. */
export function wordsOf({ tokens, probabilities }: Decoding, tokenizer: Tokenizer): HeardWord[] {
  const words: HeardWord[] = [];
  let wordless = 0;
  for (let at = 0; at < tokens.length; ) {
    let end = at + 1;
    while (end < tokens.length && !tokenizer.beginsWord(tokens[end] ?? 0)) end += 1;
    const text = tokenizer.decode(tokens.slice(at, end)).trim();
    if (LETTER.test(text)) {
      const probability = Math.min(...probabilities.slice(at, end));
      words.push({ text, tokens: wordless + end - at, probability });
      wordless = 0;
    } else wordless += end - at;
    at = end;
  }
  return words;
}
