/** Longest phrase that is looked for a second time right behind itself. */
const MAX_REPEATED = 6;

/** Words of two letters that are no beginning of another one. */
const SHORT_WORDS = new Set(
  `ad ah am an as at be by do eh go ha he hi hm id if in is it ma me mm my no of oh ok on or ox pa pc
   so tv uh um up us we`.split(/\s+/u),
);
/** Beginnings of frequent words that are none themselves, and have a vowel. */
const CUT_SHORT = new Set("becau coul shoul tha thi wha woul".split(" "));
const NO_VOWEL = /^(?:[b-df-hj-np-tv-xz]{3,4}|[b-hj-np-z])$/u;
/** After these "kind of" and "sort of" name a kind. */
const NAMING = new Set(
  `a all an another any certain different each every few first following her his its many my new no
   of one only other our right same some that the their these this those two various what whatever
   which your`.split(/\s+/u),
);
/** A letter after these is a name. */
const LETTERED = new Set(
  `class grade group hepatitis item letter option part phase plan point section series step team type
   version vitamin`.split(/\s+/u),
);
/** A sentence that ends with one of these was not finished. */
const DANGLING = new Set("a an and because but if my or our than the their whose your".split(" "));

const PRONOUN = "(?:i|we|you|he|she|it|they)";
/** After these "you know" is meant. */
const MEANT = "as|did|do|if|that|what|when|who";
/** Where a speaker begins a sentence anew: "they, well, they've", "I It's", "the I this idea". */
const RESTARTS: readonly RegExp[] = [
  new RegExp(`\\b(${PRONOUN}),?\\s+(?:well|um|uh),?\\s+(?=\\1\\b)`, "giu"),
  /\bI (?=(?:It|That|This|You|We|They|There|He|She)\b)/gu,
  /\b[Ii] (?:So|And|But) (?=I\b)/gu,
  // "I'll, the next experiment is"
  new RegExp(`\\b(?:${PRONOUN}'ll\\s+)?${PRONOUN}'ll,\\s+(?=(?:a|an|the)\\b)`, "giu"),
  /\b(?:the|a) I (?=(?:the|this|that)\b)/giu,
];

interface Word {
  written: string;
  /** In small letters, without marks around it. */
  bare: string;
}

/**
 * English speech as it would be written: without stutters, words begun twice, and "you know" or "sort
 * of" that say nothing. What breaks off ends with "…". No other word is changed, and none added.
 */
export function toFluentSpeech(text: string): string {
  const begun = RESTARTS.reduce((rest, pattern) => rest.replace(pattern, ""), text);
  const plain = begun
    .replace(/\s?['’]cause\b/giu, " because")
    .replace(new RegExp(`(?<!\\b(?:${MEANT}),? ?),? ?\\b(?:you know|i mean),`, "giu"), "")
    .replace(/(?<=\b(?:an?|are|is|just|(?:kind|sort) of|the|to|very)) you know(?= \p{L})/giu, "")
    .replace(/,\s+(?:you know|i mean|so)(?=[.?!]|$)/giu, "")
    .replace(/\b(?:sorta|kinda)\s+(?=\p{L})/giu, "");
  const words = wordsOf(plain);
  const told = withoutFalseStart(withoutRepeats(withoutHedges(withoutBeginnings(words))));
  return withOpenEnd(told)
    .map(({ written }) => written)
    .join(" ")
    .replace(/^[,;:\s]+/u, "")
    .replace(/,(?=[,.?!])/gu, "");
}

function wordsOf(text: string): Word[] {
  return text
    .split(/\s+/u)
    .filter((written) => written !== "")
    .map((written) => ({ written, bare: bareOf(written) }));
}

/** An unclear word, `[word?]`, is like no other. */
function bareOf(written: string): string {
  if (/[[\]]/u.test(written)) return written;
  return written
    .toLowerCase()
    .replaceAll("’", "'")
    .replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, "");
}

/** True when a mark separates a word from the next one. */
function isClosed({ written }: Word): boolean {
  return /[.?!;:…)\]"”]$/u.test(written);
}

/** Drops what was only the beginning of the next word: "th the", "de decided". */
function withoutBeginnings(words: readonly Word[]): Word[] {
  return words.filter((word, at) => {
    // A fragment may come twice: "tha tha that's".
    const next = words.slice(at + 1).find(({ bare }) => bare !== word.bare);
    if (next === undefined || isClosed(word)) return true;
    if (isLost(word, words[at - 1], next)) return false;
    // "It it's pretty good."
    if (next.bare.startsWith(`${word.bare}'`)) return false;
    return !(isBeginning(word) && next.bare.startsWith(word.bare));
  });
}

/** True for a small letter that is no word, among words: "the t remote". Letters in a row are spelled. */
function isLost({ written, bare }: Word, before: Word | undefined, next: Word): boolean {
  if (!/^(?:[bdfghjlmpqrstvw]|th|wh)$/u.test(bare) || written !== bare) return false;
  const last = before?.bare ?? "";
  if (next.bare === "a" || next.bare === "i") return bare.length > 1;
  const isSpelled = last.length === 1 && before?.written !== "I";
  return next.bare.length > 1 && !isSpelled && !/\d$/u.test(last) && !LETTERED.has(last);
}

/** True for what looks like a fragment of a word; a capital alone is a name, as in "vitamin C". */
function isBeginning({ written, bare }: Word): boolean {
  if (!/^\p{Ll}/u.test(written)) return bare.length === 2 && isFragment(bare);
  return isFragment(bare);
}

function isFragment(bare: string): boolean {
  return (
    NO_VOWEL.test(bare) ||
    CUT_SHORT.has(bare) ||
    (/^\p{L}{2}$/u.test(bare) && !SHORT_WORDS.has(bare))
  );
}

/** Drops "sort of" and "kind of" where they only soften. */
function withoutHedges(words: readonly Word[]): Word[] {
  return words.filter((_, at) => !isHedge(words, at) && !isHedge(words, at - 1));
}

function isHedge(words: readonly Word[], at: number): boolean {
  const first = words[at];
  const [kind = "", of = ""] = [first?.bare, words[at + 1]?.bare];
  if (!/^(?:sort|kind)$/u.test(kind) || of !== "of" || words[at + 2] === undefined) return false;
  return !words.slice(Math.max(0, at - 2), at).some(({ bare }) => NAMING.has(bare));
}

/** Drops the first of two equal phrases in a row, also with a fragment of a word between them. */
function withoutRepeats(words: readonly Word[]): Word[] {
  const left = [...words];
  for (let length = MAX_REPEATED; length > 0; length -= 1) {
    for (let at = 0; at + 2 * length <= left.length; ) {
      const gap = repeatAt(left, at, length);
      if (gap === undefined) at += 1;
      else left.splice(at, length + gap);
    }
  }
  return left;
}

/** So many words after "let's" another one begins the same proposal again. */
const RESTART_REACH = 12;
const LINKS = new Set("and but or so then".split(" "));

/** Drops the first of two beginnings: "we'll yeah let's use plastic". */
function withoutFalseStart(words: readonly Word[]): Word[] {
  const at = words.findIndex(({ bare }) => bare === "let's" || bare === "we'll");
  const again = words.findIndex(({ bare }, place) => place > at && bare === "let's");
  const before = words[again - 1];
  if (at < 0 || again < 0 || before === undefined || again - at > RESTART_REACH) return [...words];
  if (LINKS.has(before.bare) || /[^\p{L}\p{N}]$/u.test(before.written)) return [...words];
  return withoutFalseStart([...words.slice(0, at), ...words.slice(again)]);
}

/** Number of fragments of words between a phrase and its repetition; undefined where it is not repeated. */
function repeatAt(words: readonly Word[], at: number, length: number): 0 | 1 | undefined {
  const phrase = words.slice(at, at + length);
  if (phrase.some((word) => isClosed(word) || word.bare === "")) return undefined;
  const isSame = (from: number): boolean =>
    phrase.every(({ bare }, offset) => words[from + offset]?.bare === bare);
  if (isSame(at + length)) return 0;
  const between = words[at + length];
  const isCut =
    (length > 1 || phrase[0]?.bare === "i") && between !== undefined && isFragment(between.bare);
  return isCut && !isClosed(between) && isSame(at + length + 1) ? 1 : undefined;
}

/** Ends what breaks off with "…", without the words that begin something more. */
function withOpenEnd(words: readonly Word[]): Word[] {
  const last = words.at(-1);
  if (last === undefined || /[?]["”]?$/u.test(last.written)) return [...words];
  let end = words.length;
  while (end > 0 && DANGLING.has(words[end - 1]?.bare ?? "")) end -= 1;
  const kept = words.slice(0, end);
  const final = kept.at(-1);
  if (end === words.length || final === undefined) return [...words];
  return [...kept.slice(0, -1), { ...final, written: `${final.written.replace(/[,;:]+$/u, "")}…` }];
}
