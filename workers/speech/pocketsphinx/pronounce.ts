import { letterSounds } from "./letter-sounds.ts";

/** How the names of letters and digits are pronounced, in CMU's phones. */
const SPOKEN: Readonly<Record<string, string>> = {
  a: "EY",
  b: "B IY",
  c: "S IY",
  d: "D IY",
  e: "IY",
  f: "EH F",
  g: "JH IY",
  h: "EY CH",
  i: "AY",
  j: "JH EY",
  k: "K EY",
  l: "EH L",
  m: "EH M",
  n: "EH N",
  o: "OW",
  p: "P IY",
  q: "K Y UW",
  r: "AA R",
  s: "EH S",
  t: "T IY",
  u: "Y UW",
  v: "V IY",
  w: "D AH B AH L Y UW",
  x: "EH K S",
  y: "W AY",
  z: "Z IY",
  0: "Z IH R OW",
  1: "W AH N",
  2: "T UW",
  3: "TH R IY",
  4: "F AO R",
  5: "F AY V",
  6: "S IH K S",
  7: "S EH V AH N",
  8: "EY T",
  9: "N AY N",
};

/** Longest run of capitals that is taken for initials. */
const LONGEST_INITIALS = 5;
/** Letters that no accent is taken off from. */
const FOLDED: Readonly<Record<string, string>> = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  đ: "d",
  ð: "th",
  þ: "th",
  ł: "l",
  ı: "i",
};

/**
 * Likely pronunciations of a written word, the likeliest first, as CMU's phones; none of a word
 * without a letter of the Latin alphabet. Initials (`GPU`), words with digits (`k8s`) and words
 * without a vowel are spelled; initials that can be read are read as well (`NATO`).
 */
export function pronounce(written: string): string[] {
  const plain = toLatin(written);
  if (!/[a-z]/.test(plain)) return [];
  const letters = plain.replace(/[^a-z]/g, "");
  const read = letterSounds().phones(letters).join(" ");
  const spelled = [...plain].flatMap((letter) => SPOKEN[letter] ?? []).join(" ");
  if (/\d/.test(plain) || !/[aeiouy]/.test(letters)) return [spelled];
  const isInitials = written.length <= LONGEST_INITIALS && /^\p{Lu}{2,}$/u.test(written);
  return (isInitials ? [spelled, read] : [read]).filter((phones) => phones.includes(" "));
}

/** The word in the letters a to z, with its digits and apostrophes: `rüti` is `ruti`. */
function toLatin(written: string): string {
  const small = written.toLowerCase().normalize("NFD").replace(/\p{M}/gu, "");
  return [...small].map((letter) => FOLDED[letter] ?? letter).join("");
}
