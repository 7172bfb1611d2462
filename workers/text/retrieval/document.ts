import { splitSentences } from "../../../src/language/sentences.ts";
import type { Conversation, Passage } from "../../../src/wire/gen/voice/v1/retrieval.ts";
import { hearSentences } from "../language/heard-sentences.ts";
import { ASKER, voiceId } from "./question.ts";
import { type Stemmer, wordsOf } from "./words.ts";

/** Work in steps of a few milliseconds, so that other work of the thread is not delayed. */
export type Steps<T> = Generator<undefined, T>;

/** A sentence of a passage, which may be quoted. */
export interface Sentence {
  conversation: number;
  passage: Passage;
  /** Id of its speaker, see `voiceId`. */
  voice: string;
  isAsker: boolean;
  /** Text for quotations, with its unclear words marked. */
  text: string;
  /** Its text without its unclear words. */
  clear: string;
  /** Unreliable words: its unclear ones, or all when too many are unclear. */
  unclear: string;
  /** True when enough of it is clear to be quoted. */
  isQuotable: boolean;
  /**
   * Number of occurrences of each stem of its clear words; empty for a sentence that is not
   * quotable.
   */
  terms: ReadonlyMap<string, number>;
  /** Number of words in it, and of the conversation before it. */
  length: number;
  offset: number;
}

/** Whole turns of some ninety consecutive words together, or a part of a long turn: the unit of ranking. */
export interface Unit {
  conversation: number;
  /** Indexes of its sentences in the flat list, from `first` up to `end`. */
  first: number;
  end: number;
  counts: ReadonlyMap<string, number>;
  length: number;
  /** Word position of its middle in the conversation. */
  middle: number;
}

const UNIT_WORDS = 90;
/** Longer turns are cut after a sentence; what belongs together is otherwise mostly whole turns. */
const MOST_UNIT_WORDS = 200;
const MAX_SENTENCE_WORDS = 60;
const PASSAGES_PER_STEP = 100;

/** Sentences of all conversations in order; each step takes a few milliseconds. */
export function* cutSentences(
  conversations: readonly Conversation[],
  stemmerOf: (language: string) => Stemmer,
): Steps<Sentence[]> {
  const sentences: Sentence[] = [];
  for (const [index, conversation] of conversations.entries()) {
    const voices = new Map(conversation.voices.map((voice) => [voice.label, voice]));
    const stemmer = stemmerOf(conversation.language);
    let offset = 0;
    for (const [at, passage] of conversation.passages.entries()) {
      if (at % PASSAGES_PER_STEP === 0) yield undefined;
      const voice = voices.get(passage.label);
      for (const heard of hearSentences(passage.text, passage.unclear, splitText)) {
        const { text, clear, isQuotable } = heard;
        const length = wordsOf(text).length;
        sentences.push({
          conversation: index,
          passage,
          voice: voiceId(passage.label, voice?.name ?? ""),
          isAsker: voice?.isAsker ?? false,
          text,
          clear,
          unclear: isQuotable ? heard.unclear : text,
          isQuotable,
          terms: countOf(isQuotable ? stemmer.terms(clear) : []),
          length,
          offset,
        });
        offset += length;
      }
    }
  }
  return sentences;
}

function countOf(terms: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
  return counts;
}

/** Splits a text into sentences; long ones are cut every sixty words. */
function splitText(text: string): string[] {
  return splitSentences(text).flatMap((sentence) => {
    const words = sentence.split(" ");
    if (words.length <= MAX_SENTENCE_WORDS) return [sentence];
    const parts: string[] = [];
    for (let at = 0; at < words.length; at += MAX_SENTENCE_WORDS) {
      parts.push(words.slice(at, at + MAX_SENTENCE_WORDS).join(" "));
    }
    return parts;
  });
}

/** Packs sentences into units; a unit never spans two conversations. */
export function packUnits(sentences: readonly Sentence[]): Unit[] {
  const units: Unit[] = [];
  let first = 0;
  let length = 0;
  for (const [index, sentence] of sentences.entries()) {
    length += sentence.length;
    if (!isUnitFull(length, sentence, sentences[index + 1])) continue;
    units.push(createUnit(sentences, first, index + 1, length));
    first = index + 1;
    length = 0;
  }
  return units;
}

/** `length`: words up to the end of `last`, after which `next` would come. */
function isUnitFull(length: number, last: Sentence, next: Sentence | undefined): boolean {
  if (next?.conversation !== last.conversation) return true;
  return length >= (next.passage === last.passage ? MOST_UNIT_WORDS : UNIT_WORDS);
}

function createUnit(
  sentences: readonly Sentence[],
  first: number,
  end: number,
  length: number,
): Unit {
  const counts = new Map<string, number>();
  for (let at = first; at < end; at += 1) {
    for (const [term, count] of sentences[at]?.terms ?? []) {
      counts.set(term, (counts.get(term) ?? 0) + count);
    }
  }
  const { conversation = 0, offset = 0 } = sentences[first] ?? {};
  return { conversation, first, end, counts, length, middle: offset + length / 2 };
}

/** True when one of the requested speakers said it, or when none was requested. */
export function isSaidBy(sentence: Sentence, voices: ReadonlySet<string>): boolean {
  if (voices.size === 0 || voices.has(sentence.voice)) return true;
  return (
    voices.has(sentence.passage.label.toLowerCase()) || (sentence.isAsker && voices.has(ASKER))
  );
}
