import type { Token } from "./tokens.ts";

/** A number in a text. */
export interface Quantity {
  value: number;
  /** Its words: `from` included, `to` not. */
  from: number;
  to: number;
  /** What is counted, for units of time, money and share; else empty. */
  unit: string;
}

const SMALL = new Map(
  `zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
   sixteen seventeen eighteen nineteen`
    .split(/\s+/u)
    .map((word, value) => [word, value]),
);
const TENS = new Map(
  "twenty thirty forty fifty sixty seventy eighty ninety"
    .split(" ")
    .map((word, at) => [word, (at + 2) * 10]),
);
const SCALES = new Map([
  ["hundred", 100],
  ["thousand", 1e3],
  ["million", 1e6],
  ["billion", 1e9],
]);
const ORDINALS = new Map(
  `third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth
   fifteenth sixteenth seventeenth eighteenth nineteenth twentieth`
    .split(/\s+/u)
    .map((word, at) => [word, at + 3]),
);
const OTHERS = new Map([
  ["dozen", 12],
  ["half", 0.5],
  ["quarter", 0.25],
  ["twice", 2],
  ["double", 2],
  ["once", 1],
]);
const UNITS = new Map<string, string>(
  `second minute hour day week month quarter year euro dollar pound cent penny mile meter metre
   kilometre kilometer gram kilo megabyte gigabyte hertz degree people person`
    .split(/\s+/u)
    .flatMap((unit) => [
      [unit, unit],
      [`${unit}s`, unit],
    ]),
);
for (const share of ["%", "percent", "per"]) UNITS.set(share, "percent");
UNITS.set("pence", "penny");

/** All numbers of a text, in digits or words, with what belongs together as one: "two hundred and ten". */
export function findQuantities(tokens: readonly Token[]): Quantity[] {
  const found: Quantity[] = [];
  for (let at = 0; at < tokens.length; ) {
    const read = readQuantity(tokens, at);
    if (read === undefined) {
      at += 1;
      continue;
    }
    found.push({ ...read, from: at, unit: unitAfter(tokens, read.to) });
    at = read.to;
  }
  return found;
}

function unitAfter(tokens: readonly Token[], at: number): string {
  for (const { word } of tokens.slice(at, at + 2)) {
    const unit = UNITS.get(word);
    if (unit !== undefined) return unit;
  }
  return "";
}

interface Read {
  value: number;
  to: number;
}

function readQuantity(tokens: readonly Token[], at: number): Read | undefined {
  const word = tokens[at]?.word ?? "";
  const single = ORDINALS.get(word) ?? OTHERS.get(word);
  if (single !== undefined) return { value: single, to: at + 1 };
  const first = readBelowHundred(tokens, at);
  if (first === undefined) return undefined;
  return readScales(tokens, first) ?? first;
}

/** Below a hundred in words, or any number in digits; "a" only before a scale. */
function readBelowHundred(tokens: readonly Token[], at: number): Read | undefined {
  const word = tokens[at]?.word ?? "";
  const next = tokens[at + 1]?.word ?? "";
  if (/^\p{N}/u.test(word)) return readDigits(word, next, at);
  if (word === "a" && SCALES.has(next)) return { value: 1, to: at + 1 };
  const tens = TENS.get(word);
  if (tens !== undefined) {
    const unit = SMALL.get(next) ?? 0;
    const pair = TENS.get(next);
    if (pair !== undefined) return readYear(tens, pair, tokens, at);
    if (unit > 0 && unit < 10) return { value: tens + unit, to: at + 2 };
    return { value: tens, to: at + 1 };
  }
  const small = SMALL.get(word);
  if (small === undefined) return undefined;
  const pair = small > 9 ? TENS.get(next) : undefined;
  return pair === undefined ? { value: small, to: at + 1 } : readYear(small, pair, tokens, at);
}

/** "Twenty twenty" and "nineteen eighty four". */
function readYear(century: number, tens: number, tokens: readonly Token[], at: number): Read {
  const unit = SMALL.get(tokens[at + 2]?.word ?? "") ?? 0;
  const hasUnit = unit > 0 && unit < 10;
  return { value: century * 100 + tens + (hasUnit ? unit : 0), to: at + (hasUnit ? 3 : 2) };
}

/** "1,200", "3.5"; of "10:30" both numbers as one; the letters of "2nd" are a word of their own. */
function readDigits(word: string, next: string, at: number): Read {
  const value = Number(word.replaceAll(",", "").replace(":", "."));
  const isOrdinal = /^(?:st|nd|rd|th|s)$/u.test(next);
  return { value: Number.isFinite(value) ? value : Number.NaN, to: at + (isOrdinal ? 2 : 1) };
}

function readScales(tokens: readonly Token[], first: Read): Read | undefined {
  let total = 0;
  let group = first.value;
  let at = first.to;
  let has = false;
  for (;;) {
    const scale = SCALES.get(tokens[at]?.word ?? "");
    if (scale === undefined) break;
    has = true;
    at += 1;
    group *= scale;
    if (scale > 100) {
      total += group;
      group = 0;
    }
    const from = tokens[at]?.word === "and" ? at + 1 : at;
    const more = tokens[from - 1]?.isLast === true ? undefined : readBelowHundred(tokens, from);
    if (more === undefined || more.value >= scale) break;
    group += more.value;
    at = more.to;
  }
  return has ? { value: total + group, to: at } : undefined;
}
