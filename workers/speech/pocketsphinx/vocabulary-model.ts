/**
 * What a vocabulary adds to a language model. Its words get at least the probability `WORD` after
 * any words, those of a phrase at least `NEXT` after the words of the phrase before them; what the
 * large model thinks likelier stays so. A word that the large model knows better than `WORD`
 * gets nothing by itself, so that the "of" of a phrase is not heard everywhere.
 */

/** Logarithms to the base 10 of probabilities. */
const WORD = -3.3;
const NEXT = -0.3;
const NEVER = -99;
/** Words of a vocabulary beyond these are left out, as are phrases of more words. */
export const MOST_WORDS = 1_000;
export const LONGEST_PHRASE = 6;

/** The words of a phrase as they are recognised: small letters, without other signs. */
export function phraseWords(phrase: string): { word: string; written: string }[] {
  return phrase
    .normalize("NFC")
    .split(/[^\p{L}\p{M}\p{N}'’]+/u)
    .map((part) => part.replaceAll("’", "'").replace(/^'+|'+$/g, ""))
    .filter((part) => /[\p{L}\p{N}]/u.test(part))
    .map((part) => ({ word: part.toLowerCase(), written: part }));
}

/**
 * A back-off model with the words and phrases, in ARPA's format, of the order 2. `isRare` says
 * whether the large model knows the word worse than `WORD`.
 *
 * @param phrases words of each phrase
 */
export function vocabularyModel(
  phrases: readonly (readonly string[])[],
  isRare: (word: string) => boolean,
): string {
  const words = [...new Set(phrases.flat())];
  const pairs = new Set<string>();
  for (const phrase of phrases) {
    for (const [at, word] of phrase.entries()) {
      if (at > 0) pairs.add(`${phrase[at - 1]} ${word}`);
    }
  }
  const unigrams = ["<s>", "</s>"].map((word) => `${NEVER} ${word} 0`);
  for (const word of words) unigrams.push(`${isRare(word) ? WORD : NEVER} ${word} 0`);
  // A model of the order 2 has at least one pair.
  const bigrams = pairs.size === 0 ? [`${NEVER} <s> </s>`] : [...pairs].map((p) => `${NEXT} ${p}`);
  return [
    "",
    "\\data\\",
    `ngram 1=${unigrams.length}`,
    `ngram 2=${bigrams.length}`,
    "",
    "\\1-grams:",
    ...unigrams,
    "",
    "\\2-grams:",
    ...bigrams,
    "",
    "\\end\\",
    "",
  ].join("\n");
}

export const RARE_BELOW = WORD;
