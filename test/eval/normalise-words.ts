import { cardinalWords, ordinalWords } from "./number-words.ts";

/**
 * Turns text into the words that are compared, the same way for reference and hypothesis:
 *
 * 1. Unicode NFKC, lower case, curly apostrophes made straight;
 * 2. what a recogniser adds is dropped: `<s>`, `</s>`, `<sil>`, `[NOISE]`, `++noise++`, and the
 *    number of a pronunciation in `read(2)`;
 * 3. numbers are spelled: `$100` one hundred dollars, `5%` five percent, `3rd` third,
 *    `1,200` one thousand two hundred, `2.5` two point five (see `number-words.ts`);
 * 4. `&` is "and"; hyphens and all other punctuation separate words, apostrophes inside a word
 *    stay (`don't`, `o'clock`), at its edges they go.
 * 5. `mr`, `mrs` and `dr` are "mister", "missus" and "doctor".
 *
 * Other spelling variants, contractions and hesitations are left as they are: they count as errors.
 */
export function normaliseWords(text: string): string[] {
  const plain = text
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[\u2018\u2019\u02bc]/g, "'")
    .replace(/<\/?[a-z]+>|\[[a-z]+\]|\+\+[a-z]+\+\+/g, " ")
    .replace(/(?<=[a-z'])\(\d+\)/g, "")
    .replace(/&/g, " and ");
  return spellNumbers(plain)
    .split(/[^\p{L}\p{M}\p{N}']+/u)
    .map((word) => word.replace(/^'+|'+$/g, ""))
    .filter((word) => word.length > 0)
    .map((word) => TITLES.get(word) ?? word);
}

const TITLES: ReadonlyMap<string, string> = new Map([
  ["mr", "mister"],
  ["mrs", "missus"],
  ["dr", "doctor"],
]);

const NUMBER = /(\$)?(\d{1,3}(?:,\d{3})+|\d+)(?:\.(\d+))?(st|nd|rd|th)?(%)?/g;

function spellNumbers(text: string): string {
  return text.replace(
    NUMBER,
    (_all, dollar?: string, whole?: string, fraction?: string, suffix?: string, percent?: string) =>
      ` ${numberWords({ dollar, whole: whole ?? "", fraction, suffix, percent }).join(" ")} `,
  );
}

interface WrittenNumber {
  readonly dollar: string | undefined;
  readonly whole: string;
  readonly fraction: string | undefined;
  readonly suffix: string | undefined;
  readonly percent: string | undefined;
}

function numberWords({ dollar, whole, fraction, suffix, percent }: WrittenNumber): string[] {
  const digits = whole.replaceAll(",", "");
  const words = suffix && !fraction ? ordinalWords(digits) : cardinalWords(digits);
  if (fraction) words.push("point", ...[...fraction].flatMap((digit) => cardinalWords(digit)));
  if (dollar) words.push(digits === "1" && !fraction ? "dollar" : "dollars");
  if (percent) words.push("percent");
  return words;
}
