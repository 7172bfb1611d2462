import { splitSentences } from "../../src/language/sentences.ts";
import type { Meeting } from "./qmsum.ts";

/** How a sentence was made from what was said. */
export type SentenceForm = "quoted" | "reported" | "shortened" | "joined" | "written by people";

export interface Cited {
  speaker: string;
  text: string;
}

/** A sentence of a note that is true, with the utterances that say so. */
export interface TrueSentence {
  form: SentenceForm;
  meeting: string;
  /** All who spoke there. */
  speakers: string[];
  text: string;
  /** Who the note says said it, beside the sentence. */
  speaker?: string;
  cited: Cited[];
}

interface Spoken {
  turn: number;
  speaker: string;
  sentence: string;
  /** The whole turn. */
  text: string;
}

const FEWEST = 8;
const MOST = 35;
/** Most turns that a sentence written by people cites. */
const CITED_TURNS = 6;
const FILLER =
  /\b(?:um|uh|you know|i mean|sort of|kind of|actually|basically|just|really|well|like|yeah|so|okay|ok)\b,?\s*/giu;

/** Sentences of one form from a meeting, in no order that matters. */
export function trueSentences(meeting: Meeting, form: SentenceForm): TrueSentence[] {
  if (form === "written by people") return writtenByPeople(meeting);
  const spoken = spokenSentences(meeting);
  if (form === "joined") return joined(meeting, spoken);
  return spoken.flatMap((one) => {
    const made = oneOf(form, one);
    if (made === undefined) return [];
    return [{ ...frame(meeting, form), ...made, cited: [cite(one)] }];
  });
}

function frame(meeting: Meeting, form: SentenceForm) {
  const speakers = meeting.conversation.voices.map(({ name }) => name);
  return { form, meeting: meeting.name, speakers };
}

const cite = ({ speaker, text }: Spoken): Cited => ({ speaker, text });

function spokenSentences({ conversation }: Meeting): Spoken[] {
  const names = new Map(conversation.voices.map(({ label, name }) => [label, name]));
  return conversation.passages.flatMap(({ label, text }, turn) =>
    splitSentences(text)
      .filter((sentence) => {
        const { length } = sentence.split(" ");
        return length >= FEWEST && length <= MOST && !/[?"“”‘]/u.test(sentence);
      })
      .map((sentence) => ({ turn, speaker: names.get(label) ?? label, sentence, text })),
  );
}

function oneOf(
  form: Exclude<SentenceForm, "joined" | "written by people">,
  { speaker, sentence }: Spoken,
): { text: string; speaker?: string } | undefined {
  if (form === "quoted") return { text: sentence, speaker };
  if (form === "reported") return { text: `${speaker} said that ${inThirdPerson(sentence)}` };
  const text = shortened(sentence);
  return text === undefined ? undefined : { text, speaker };
}

const THIRD: readonly (readonly [RegExp, string])[] = [
  [/\bI'm\b/giu, "they are"],
  [/\bI am\b/giu, "they are"],
  [/\bI was\b/giu, "they were"],
  [/\bI've\b/giu, "they have"],
  [/\bI'll\b/giu, "they will"],
  [/\bI'd\b/giu, "they would"],
  [/\bI\b/gu, "they"],
  [/\bmy\b/giu, "their"],
  [/\bme\b/giu, "them"],
  [/\bwe're\b/giu, "the group is"],
  [/\bwe've\b/giu, "the group has"],
  [/\bwe'll\b/giu, "the group will"],
  [/\bwe\b/giu, "the group"],
  [/\bour\b/giu, "the group's"],
  [/\bdon't\b/giu, "do not"],
  [/\bdoesn't\b/giu, "does not"],
  [/\bcan't\b/giu, "cannot"],
  [/\bwon't\b/giu, "will not"],
  [/\bisn't\b/giu, "is not"],
];

function inThirdPerson(sentence: string): string {
  const plain = sentence.replace(FILLER, "").replace(/^(?:and|but|then|no|yes)\b,?\s*/iu, "");
  const turned = THIRD.reduce((text, [from, to]) => text.replace(from, to), plain);
  const [first = ""] = turned.split(" ");
  const isName = /^(?:I|[A-Z]\S*[A-Z])/u.test(first);
  return isName ? turned : turned.charAt(0).toLowerCase() + turned.slice(1);
}

/** Without fillers and without its shortest clause at either end. */
function shortened(sentence: string): string | undefined {
  const clauses = sentence.replace(FILLER, "").split(/,\s*/u);
  if (clauses.length < 2) return undefined;
  const [first = "", ...rest] = clauses;
  const last = clauses.at(-1) ?? "";
  const kept = first.length < last.length ? rest.join(", ") : clauses.slice(0, -1).join(", ");
  if (kept.split(" ").length < FEWEST - 1) return undefined;
  return `${kept.charAt(0).toUpperCase()}${kept.slice(1).replace(/[.!,]*$/u, "")}.`;
}

function joined(meeting: Meeting, spoken: readonly Spoken[]): TrueSentence[] {
  return spoken.flatMap((one, at) => {
    const other = spoken
      .slice(at + 1)
      .find(
        ({ turn, speaker }) => turn > one.turn && turn <= one.turn + 6 && speaker !== one.speaker,
      );
    if (other === undefined) return [];
    const [first, second] = [one, other].map(
      ({ speaker, sentence }) =>
        `${speaker} said that ${inThirdPerson(sentence).replace(/[.!]*$/u, "")}`,
    );
    return [
      {
        ...frame(meeting, "joined"),
        text: `${first}, and ${second}.`,
        cited: [one, other].map(cite),
      },
    ];
  });
}

/**
 * Sentences of the answers. Nobody noted which turns say so, only where the whole answer comes from: cited
 * are those of these turns that together hold most of the words, first of whom the sentence names.
 */
function writtenByPeople(meeting: Meeting): TrueSentence[] {
  const { passages, voices } = meeting.conversation;
  const names = new Map(voices.map(({ label, name }) => [label, name]));
  return meeting.queries.flatMap(({ answer, gold }) => {
    const turns = [...gold].flatMap((turn) => {
      const passage = passages[turn];
      return passage ? [{ speaker: names.get(passage.label) ?? "", text: passage.text }] : [];
    });
    return splitSentences(answer).flatMap((text) => {
      const { length } = text.split(" ");
      if (length < FEWEST || length > MOST) return [];
      const cited = covering(text, turns);
      return cited.length === 0 ? [] : [{ ...frame(meeting, "written by people"), text, cited }];
    });
  });
}

function covering(text: string, turns: readonly Cited[]): Cited[] {
  const left = contentWords(text);
  const chosen: Cited[] = [];
  while (chosen.length < CITED_TURNS) {
    const worth = (turn: Cited) =>
      overlap(left, turn.text) * (text.includes(turn.speaker) ? 1.5 : 1);
    const best = turns.reduce<Cited | undefined>((one, turn) => {
      return !chosen.includes(turn) && worth(turn) > (one ? worth(one) : 0) ? turn : one;
    }, undefined);
    if (best === undefined) return chosen;
    chosen.push(best);
    for (const word of contentWords(best.text)) left.delete(word);
  }
  return chosen;
}

/** Words of five letters or more: what a sentence is about, near enough for choosing turns. */
export function contentWords(text: string): Set<string> {
  return new Set(text.toLowerCase().match(/\p{L}{5,}/gu) ?? []);
}

export function overlap(words: ReadonlySet<string>, text: string): number {
  let count = 0;
  for (const word of contentWords(text)) if (words.has(word)) count += 1;
  return count;
}
