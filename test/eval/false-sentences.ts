import type { SeededRandom } from "../support/seeded-random.ts";
import type { Meeting } from "./qmsum.ts";
import { contentWords, overlap, type TrueSentence } from "./true-sentences.ts";

/** What is false about a sentence. */
export type Falsehood = "number" | "name" | "date" | "negation" | "speaker" | "invention";

/** A sentence of a note that is not true, with utterances that look as if they said so. */
export interface FalseSentence extends TrueSentence {
  falsehood: Falsehood;
  /** The true sentence that it was made from. */
  from: string;
}

const COUNTS =
  "two three four five six seven eight nine ten eleven twelve fifteen twenty thirty forty fifty sixty eighty ninety".split(
    " ",
  );
const IN_DIGITS = /\b\d+(?:[.,]\d+)*\b/u;
const IN_WORDS = new RegExp(`\\b(?:${COUNTS.join("|")})\\b`, "iu");

const TIMES: readonly (readonly string[])[] = [
  "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split(" "),
  "January February April June July August September October November December".split(" "),
  ["today", "tomorrow", "yesterday"],
  ["next week", "last week", "this week"],
  ["next month", "last month"],
  ["next year", "last year", "this year"],
  ["this morning", "this afternoon", "this evening"],
];
const YEAR = /\b(?:19|20)\d\d\b/u;

const STRANGERS =
  "Margaret Oliver Priya Hamburg Lisbon Okonkwo Siemens Toyota Fernando Ingrid Dublin Nakamura".split(
    " ",
  );

const AUXILIARY =
  /\b(is|are|was|were|will|would|can|could|should|must|has|have|had|does|do|did)\b(?!\s+(?:not|n't|you|we|they|i|it)\b|n't)/iu;
const NEGATED =
  /\b(is|are|was|were|will|would|could|should|has|have|had|does|do|did)(?:n't| not)\b/iu;

const INVENTED = [
  "and will hire two consultants for it",
  "because the supplier went bankrupt",
  "and the lawyers have already signed the contract",
  "which customers in Japan complained about",
  "and promised to repay the bank loan",
  "after the warehouse was flooded",
  "so that the factory can be sold",
  "and the insurance will cover the damage",
  "which the newspaper reported on the front page",
  "and offered everybody a salary increase",
];

/** Makes something about the sentence false; undefined where it has nothing of the kind. */
export function falsify(
  sentence: TrueSentence,
  falsehood: Falsehood,
  { meetings, random }: { meetings: readonly Meeting[]; random: SeededRandom },
): FalseSentence | undefined {
  const changed =
    falsehood === "invention"
      ? invented(sentence, meetings, random)
      : CHANGES[falsehood](sentence, random);
  if (changed === undefined) return undefined;
  return { ...sentence, ...changed, falsehood, from: sentence.text };
}

type Change = (sentence: TrueSentence, random: SeededRandom) => Partial<TrueSentence> | undefined;

const CHANGES: Record<Exclude<Falsehood, "invention">, Change> = {
  number: otherNumber,
  name: otherName,
  date: otherTime,
  negation: otherwise,
  speaker: otherSpeaker,
};

function otherNumber({ text }: TrueSentence, random: SeededRandom) {
  const digits = IN_DIGITS.exec(text);
  if (digits !== null && !YEAR.test(digits[0])) {
    const value = Number(digits[0].replaceAll(",", ""));
    const other = random.pick([
      value + 1,
      value * 2,
      value + 10,
      Math.max(2, Math.round(value / 2)),
    ]);
    if (other === value) return undefined;
    return { text: text.replace(digits[0], String(other)) };
  }
  const word = IN_WORDS.exec(text)?.[0];
  if (word === undefined) return undefined;
  const others = COUNTS.filter((count) => count !== word.toLowerCase());
  return { text: text.replace(new RegExp(`\\b${word}\\b`, "u"), random.pick(others)) };
}

function otherTime({ text }: TrueSentence, random: SeededRandom) {
  const year = YEAR.exec(text)?.[0];
  if (year !== undefined) {
    return { text: text.replace(year, String(Number(year) + random.pick([-2, -1, 1, 2, 3]))) };
  }
  for (const kind of TIMES) {
    const found = kind.find((time) => new RegExp(`\\b${time}\\b`, "iu").test(text));
    if (found === undefined) continue;
    const other = random.pick(kind.filter((time) => time !== found));
    return { text: text.replace(new RegExp(`\\b${found}\\b`, "iu"), other) };
  }
  return undefined;
}

/** Another name for one within the sentence: of who was there, or of a stranger. */
function otherName({ text, speakers }: TrueSentence, random: SeededRandom) {
  const own = new Set(speakers.flatMap((name) => name.split(/\s+/u)));
  const names = [...text.matchAll(/(?<=[a-z,] )[A-Z][a-z]{2,}\b/gu)]
    .map(([name]) => name)
    .filter((name) => !own.has(name) && !TIMES.flat().includes(name));
  if (names.length === 0) return undefined;
  const name = random.pick(names);
  const firsts = speakers
    .flatMap((each) => (/\b(?:AM|MP)$/u.test(each) ? each.split(" ").slice(0, 1) : []))
    .filter((each) => /^[A-Z][a-z]{2,}$/u.test(each));
  const pool = [...STRANGERS, ...firsts].filter((each) => each !== name);
  return { text: text.replace(name, random.pick(pool)) };
}

function otherwise({ text }: TrueSentence) {
  const negated = NEGATED.exec(text);
  if (negated?.[1] !== undefined) return { text: text.replace(negated[0], negated[1]) };
  if (/n't|\b(?:not|no|never|nobody|nothing|none|neither)\b/iu.test(text)) return undefined;
  const auxiliary = AUXILIARY.exec(text)?.[0];
  return auxiliary === undefined
    ? undefined
    : { text: text.replace(auxiliary, `${auxiliary} not`) };
}

/** Somebody else is said to have said it; of two who are cited each gets what the other said. */
function otherSpeaker({ text, speaker, speakers, cited }: TrueSentence, random: SeededRandom) {
  const [one, two] = cited.map((each) => each.speaker);
  if (one === undefined) return undefined;
  if (
    two !== undefined &&
    one !== two &&
    text.startsWith(`${one} `) &&
    text.includes(` ${two} said`)
  ) {
    return { text: text.replace(` ${two} said`, ` ${one} said`).replace(one, two) };
  }
  const others = speakers.filter(
    (each) => each !== one && !one.includes(each) && !each.includes(one),
  );
  if (others.length === 0) return undefined;
  if (speaker !== undefined) return { speaker: random.pick(others) };
  const named = speakers.find((each) => text.startsWith(`${each} `));
  if (named === undefined) return undefined;
  const rest = others.filter((each) => each !== named && !cited.some((c) => c.speaker === each));
  return rest.length === 0 ? undefined : { text: text.replace(named, random.pick(rest)) };
}

/** What was said elsewhere, citing what is nearest to it here; or more than was said. */
function invented(sentence: TrueSentence, meetings: readonly Meeting[], random: SeededRandom) {
  if (random.next() < 0.5) {
    return { text: `${sentence.text.replace(/[.!,]*$/u, "")} ${random.pick(INVENTED)}.` };
  }
  const others = meetings.filter(
    ({ name }) => name !== sentence.meeting && name[0] === sentence.meeting[0],
  );
  if (others.length === 0) return undefined;
  const { conversation } = random.pick(others);
  const words = contentWords(sentence.text);
  if (words.size < 3) return undefined;
  const names = new Map(conversation.voices.map(({ label, name }) => [label, name]));
  const cited = conversation.passages
    .map((passage) => ({ passage, score: overlap(words, passage.text) }))
    .sort((a, b) => b.score - a.score)
    .slice(0, Math.max(2, sentence.cited.length))
    .map(({ passage }) => ({ speaker: names.get(passage.label) ?? "", text: passage.text }));
  const speakers = [...names.values()];
  // Who says it is one of those who are cited, so that this alone tells nothing.
  const who = cited[0]?.speaker ?? "";
  const was = sentence.speakers.find((each) => sentence.text.startsWith(`${each} `));
  const text = was === undefined ? sentence.text : sentence.text.replace(was, who);
  return { text, speakers, cited, ...(sentence.speaker !== undefined && { speaker: who }) };
}
