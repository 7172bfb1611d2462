import type { Answer, Conversation } from "../../src/wire/gen/voice/v1/retrieval.ts";

/** What a right answer is: all members have to hold. */
export interface Expected {
  /** Places, from 0, of utterances; one of the answer's first three citations is one of them. */
  citesAny?: number[];
  /** Names and label of the person whom the answer names first, or else cites first. */
  who?: string[];
  /** Regular expressions, of which at least one is found in the answer. */
  says?: string[];
  /** Regular expressions that are all found in the answer. */
  saysAll?: string[];
  /** Readings of the answer's first number. */
  number?: number[];
  /** The answer's first length of time, in seconds. */
  seconds?: number;
  /** How far off a number or length may be, as a share of it. */
  tolerance?: number;
  /** True when the answer has to be that nothing was found. */
  nothing?: boolean;
}

/** A question that a person asks of a meeting, with what a right answer has. */
export interface PlainQuestion {
  meeting: string;
  question: string;
  kind: string;
  expect: Expected;
}

const CITATIONS = 3;

/** Why an answer is wrong; empty for a right one. */
export function faultsOf(
  expect: Expected,
  answer: Pick<Answer, "citations" | "text">,
  conversation: Conversation,
): string[] {
  const { text, citations } = answer;
  const { citesAny, who, says, saysAll, number, seconds, tolerance = 0, nothing } = expect;
  const isNear = (is: number | undefined, wanted: number): boolean =>
    is !== undefined && Math.abs(is - wanted) <= tolerance * wanted + 1e-9;
  const finds = (pattern: string): boolean => new RegExp(pattern, "iu").test(text);
  const cited = citations.slice(0, CITATIONS).map(({ segmentId }) => Number(segmentId));
  const faults: string[] = [];
  if (nothing === true && (citations.length > 0 || !SAYS_NOTHING.test(text))) {
    faults.push("claims something");
  }
  if (citesAny !== undefined && !cited.some((turn) => citesAny.includes(turn))) {
    faults.push(`cites ${cited.join(", ") || "nothing"} instead of one of ${citesAny.join(", ")}`);
  }
  if (who !== undefined && !isPerson(who, answer, conversation)) {
    faults.push(`names somebody else than ${who.join(" = ")}`);
  }
  if (says !== undefined && !says.some(finds)) faults.push(`says none of ${says.join(" | ")}`);
  const missing = saysAll?.filter((pattern) => !finds(pattern)) ?? [];
  if (missing.length > 0) faults.push(`does not say ${missing.join(", ")}`);
  const names = namesOf(conversation);
  if (number !== undefined && !number.some((each) => isNear(firstNumber(text, names), each))) {
    faults.push(`the first number is ${firstNumber(text, names)}, not ${number.join(" or ")}`);
  }
  if (seconds !== undefined && !isNear(firstSeconds(text), seconds)) {
    faults.push(`the first length is ${firstSeconds(text)} s, not ${seconds} s`);
  }
  return faults;
}

const SAYS_NOTHING =
  /\b(?:nothing|nobody|no one|never|no (?:decision|promise|task|mention)|not)\b/iu;

function namesOf({ voices }: Conversation): string[] {
  return voices.map(({ name }) => name).filter((name) => name !== "");
}

/** True when the person named first, outside of quoted words, is the expected one. */
function isPerson(
  who: readonly string[],
  { text, citations }: Pick<Answer, "citations" | "text">,
  { voices, passages }: Conversation,
): boolean {
  const own = text.replace(/[“"][^”"]*[”"]/gu, " ").toLowerCase();
  const named = voices.flatMap(({ label, name }) =>
    [name, label, label.replace(/^S/, "Speaker ")].flatMap((form) => {
      const at = form === "" ? -1 : indexOfWords(own, form.toLowerCase());
      return at === -1 ? [] : [{ label, name, at, length: form.length }];
    }),
  );
  const [first] = named.sort((a, b) => a.at - b.at || b.length - a.length);
  const cited = passages.find(({ segmentId }) => segmentId === citations[0]?.segmentId)?.label;
  const person = first ?? voices.find(({ label }) => label === cited);
  return person !== undefined && (who.includes(person.name) || who.includes(person.label));
}

/** Where the words stand by themselves; -1 when nowhere. */
function indexOfWords(text: string, words: string): number {
  const escaped = words.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`(?<![\\p{L}\\p{N}])${escaped}(?![\\p{L}\\p{N}])`, "u").exec(text)?.index ?? -1;
}

const SMALL =
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty".split(
    " ",
  );
const WORDS: ReadonlyMap<string, number> = new Map([
  ...SMALL.map((word, value): [string, number] => [word, value]),
  ["once", 1],
  ["twice", 2],
  ["never", 0],
]);
const UNIT = "(?:h|hours?|min|minutes?|s|secs?|seconds?)";
const NO_COUNT = new RegExp(
  `\\d+(?::\\d{2})+|\\d+(?:\\.\\d+)? ?%|\\b\\d+(?:\\.\\d+)? ?${UNIT}\\b|\\bspeaker \\d+|\\bS\\d+\\b`,
  "giu",
);

/** The first number that counts something, in digits or in words up to twenty. */
function firstNumber(text: string, names: readonly string[]): number | undefined {
  const own = names.reduce((rest, name) => rest.replaceAll(name, " "), text).replace(NO_COUNT, " ");
  for (const [word] of own.replace(/(\d),(?=\d{3})/g, "$1").matchAll(/\d+(?:\.\d+)?|\p{L}+/gu)) {
    const value = WORDS.get(word.toLowerCase()) ?? Number(word);
    if (Number.isFinite(value)) return value;
  }
  return undefined;
}

const CLOCK = "(\\d+):(\\d{2})(?::(\\d{2}))?";
const LENGTH = new RegExp(
  `${CLOCK}|(?:(\\d+) ?h(?:ours?)?\\b)?(?:(?:,| and)? ?(\\d+(?:\\.\\d+)?) ?min(?:utes?)?\\b)?(?:(?:,| and)? ?(\\d+(?:\\.\\d+)?) ?s(?:ec(?:ond)?s?)?\\b)?`,
  "giu",
);

/** The first length of time, in seconds. */
function firstSeconds(text: string): number | undefined {
  for (const match of text.matchAll(LENGTH)) {
    if (match[0].trim() === "") continue;
    const [first, second, third] = match.slice(1, 4).map((part) => Number(part ?? Number.NaN));
    if (match[1] !== undefined && first !== undefined && second !== undefined) {
      return third === undefined || Number.isNaN(third)
        ? first * 60 + second
        : first * 3_600 + second * 60 + third;
    }
    const [hours = 0, minutes = 0, rest = 0] = match.slice(4, 7).map((part) => Number(part ?? 0));
    return hours * 3_600 + minutes * 60 + rest;
  }
  return undefined;
}
