const SMALL = [
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen",
  "fifteen sixteen seventeen eighteen nineteen",
]
  .join(" ")
  .split(" ");
const TENS = "_ _ twenty thirty forty fifty sixty seventy eighty ninety".split(" ");
const SCALES: readonly (readonly [number, string])[] = [
  [1_000_000_000, "billion"],
  [1_000_000, "million"],
  [1_000, "thousand"],
  [100, "hundred"],
];
const IRREGULAR_ORDINALS: Readonly<Record<string, string>> = {
  one: "first",
  two: "second",
  three: "third",
  five: "fifth",
  eight: "eighth",
  nine: "ninth",
  twelve: "twelfth",
};

/** The largest number that is spelled out; longer digit strings are read digit by digit. */
const LARGEST = 999_999_999_999;

/**
 * Spells a string of decimal digits as English words, American style without "and":
 * "1203" → one thousand two hundred three. A leading zero, or more than twelve digits, reads
 * digit by digit ("007" → zero zero seven).
 */
export function cardinalWords(digits: string): string[] {
  const value = Number(digits);
  const byDigit = value > LARGEST || (digits.length > 1 && digits.startsWith("0"));
  return byDigit ? [...digits].flatMap((digit) => spell(Number(digit))) : spell(value);
}

/** As `cardinalWords`, with the last word an ordinal: "23" → twenty third. */
export function ordinalWords(digits: string): string[] {
  const words = cardinalWords(digits);
  const last = words.pop() ?? "";
  return [...words, ordinal(last)];
}

function spell(value: number): string[] {
  for (const [size, name] of SCALES) {
    if (value < size) continue;
    const rest = value % size;
    return [...spell(Math.floor(value / size)), name, ...(rest > 0 ? spell(rest) : [])];
  }
  const small = SMALL[value];
  if (small !== undefined) return [small];
  const units = SMALL[value % 10];
  return [TENS[Math.floor(value / 10)] ?? "", ...(value % 10 > 0 && units ? [units] : [])];
}

function ordinal(word: string): string {
  const irregular = IRREGULAR_ORDINALS[word];
  if (irregular !== undefined) return irregular;
  return word.endsWith("y") ? `${word.slice(0, -1)}ieth` : `${word}th`;
}
