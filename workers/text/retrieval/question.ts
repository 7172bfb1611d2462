import {
  type Deed,
  type Measure,
  type PlainKind,
  readDeed,
  readMeasure,
  readPlainKind,
  topicOfKind,
} from "./plain-question.ts";
import { type Intent, readIntent } from "./question-intent.ts";
import { type AskedTimes, readTimes } from "./question-time.ts";
import { QUESTION_WORDS } from "./stop-words.ts";
import { foldWord, isStopWord, wordsOf } from "./words.ts";

/** A speaker whom a question may name. */
interface NamedVoice {
  label: string;
  name: string;
  isAsker: boolean;
}

export interface Question {
  intent: Intent;
  /** The rule that answers it; undefined when none does. */
  plain: PlainKind | undefined;
  /** What the one who is asked for did. */
  deed: Deed | undefined;
  /** True when it asks until when something has to be done. */
  isDue: boolean;
  /** What the number that is asked for measures. */
  measure: Measure | undefined;
  /** Words of the topic, as written, without speakers' names and question words. */
  words: string[];
  /** The first word, which has a capital without being a name; empty where there is none. */
  firstWord: string;
  /** Word sequences in quotation marks. */
  phrases: string[][];
  /**
   * Speakers whose words are requested ("what did Anna say …"): folded names, labels, or `asker`.
   */
  voices: ReadonlySet<string>;
  times: AskedTimes;
}

/** Names that are also everyday words; only a capital letter distinguishes them. */
const WORDLIKE = new Set(
  "bill dawn drew faith frank grace guy hope jack joy june mark may pat rich rob rose sue will".split(
    " ",
  ),
);
/** Words for the whole conversation. */
const TALKS = new Set("meeting conversation session call recording discussion talk it".split(" "));
export const ASKER = "asker";

/** Parses a question in English; in other languages every word counts as topic. */
export function readQuestion(text: string, voices: readonly NamedVoice[], now: number): Question {
  const times = readTimes(text, now);
  const { asked, words } = takeVoices(withoutReporting(times.rest), voices);
  const topic = topicOf(words);
  const phrases = phrasesOf(text);
  const plain = plainKindOf(times.rest, asked);
  const { intent, words: sought } = readIntent(times.rest, topic);
  const kept = plain === undefined ? sought : topicOfKind(plain, sought);
  const deed = plain === "who" ? readDeed(times.rest) : undefined;
  const measure = readMeasure(times.rest);
  const isDue = /\b(?:due|deadline|until when|by when)\b/i.test(times.rest);
  const [firstWord = ""] = wordsOf(text);
  const about = { intent, plain, deed, isDue, measure, firstWord };
  return { ...about, words: kept, phrases, voices: asked, times };
}

/** As `readPlainKind`; how long something was that a speaker did is how long they spoke. */
function plainKindOf(text: string, asked: ReadonlySet<string>): PlainKind | undefined {
  const kind = readPlainKind(text);
  return kind === "length" && asked.size > 0 ? "speaking-time" : kind;
}

const REPORTING =
  /\b((?:did|does|do|has|have|had)\b.{1,40}?)\b(?:report(?:ed)?|present(?:ed)?|show(?:n|ed)?|find out|found out|found|learn(?:ed|t)?|note[d]?|comment(?:ed)?|announce[d]?|complain(?:ed)?|warn(?:ed)?|claim(?:ed)?|add(?:ed)?|reveal(?:ed)?|discover(?:ed)?|observe[d]?|list(?:ed)?) (?=about|on|of|that|regarding|concerning|as)/i;

/** The question without a verb of reporting, which is no topic: "what did Ada report about …". */
function withoutReporting(text: string): string {
  return text.replace(REPORTING, "$1");
}

/**
 * The words of the topic; after "about" even question words count: "about the team". "May" without
 * a capital is no month.
 */
function topicOf(words: readonly string[]): string[] {
  const folded = words.map(foldWord);
  const topic = words.filter((word, at) => word !== "may" && isSignificant(folded[at] ?? ""));
  if (topic.length > 0) return topic;
  const about = Math.max(folded.lastIndexOf("about"), folded.lastIndexOf("regarding"));
  if (about === -1) return [];
  return words.filter((_, at) => {
    const word = folded[at] ?? "";
    return at > about && !isStopWord(word) && !TALKS.has(word);
  });
}

function isSignificant(word: string): boolean {
  return !isStopWord(word) && !QUESTION_WORDS.has(word);
}

function phrasesOf(text: string): string[][] {
  const quoted = text.matchAll(/["“”«»]([^"“”«»]{2,200})["“”«»]/g);
  return [...quoted].map((match) => wordsOf(match[1] ?? "")).filter((words) => words.length > 0);
}

interface Linked {
  asked: Set<string>;
  /** Words that do not name a requested speaker. */
  words: string[];
}

/** Words before a name that make it the speaker: "did Anna …", "what the chair …". */
const BEFORE = new Set(
  "did does do has have had will would should could was is were by from to what how why when where of".split(
    " ",
  ),
);

function takeVoices(text: string, voices: readonly NamedVoice[]): Linked {
  const words = wordsOf(text);
  const folded = words.map(foldWord);
  const asked = new Set<string>();
  // Indexes of words that name a speaker, with the length of that name.
  const taken = new Map<number, number>();
  for (const key of keysOf(voices)) {
    for (let at = 0; at + key.words.length <= folded.length; at += 1) {
      if (!key.words.every((word, offset) => folded[at + offset] === word)) continue;
      const isWritten = !key.needsCapital || /^\p{Lu}/u.test(words[at] ?? "");
      if (!isWritten && !isRoleAsked(folded, at)) continue;
      const last = at + key.words.length - 1;
      if (isTakenByLonger(taken, at, last)) continue;
      if (!isAsked(folded, at, taken) && !/['’]s$/.test(words[last] ?? "")) continue;
      asked.add(key.id);
      for (let index = at; index <= last; index += 1) taken.set(index, key.words.length);
    }
  }
  const isAsker = voices.some((voice) => voice.isAsker);
  if (isAsker && /\b(did|do|have|will|should|was|am) i\b/i.test(text)) asked.add(ASKER);
  // "The marketing expert" is whom they call Marketing.
  const isRole = (at: number): boolean => taken.has(at - 1) && ROLES.has(folded[at] ?? "");
  return { asked, words: words.filter((_, at) => !taken.has(at) && !isRole(at)) };
}

const ASKING = new Set("did does do has have had will would should could can".split(" "));

/** True for "did the professor …" where a speaker is called Professor and something else. */
function isRoleAsked(folded: readonly string[], at: number): boolean {
  if (WORDLIKE.has(folded[at] ?? "") || isStopWord(folded[at] ?? "")) return false;
  return folded[at - 1] === "the" && ASKING.has(folded[at - 2] ?? "");
}

const ROLES = new Set("expert guy lady man member person specialist woman".split(" "));

/** True when a longer name uses one of these words; one name may belong to several speakers. */
function isTakenByLonger(taken: ReadonlyMap<number, number>, at: number, last: number): boolean {
  for (let index = at; index <= last; index += 1) {
    if ((taken.get(index) ?? 0) > last - at + 1) return true;
  }
  return false;
}

/** True for a name at the start, after a verb of asking, or joined to a requested one. */
function isAsked(
  folded: readonly string[],
  at: number,
  taken: ReadonlyMap<number, number>,
): boolean {
  const before = folded[at - 1] === "the" ? at - 2 : at - 1;
  if (before < 0) return true;
  const word = folded[before] ?? "";
  if (word === "to") return folded[before - 1] === "according";
  return BEFORE.has(word) || (word === "and" && taken.has(before - 1));
}

/** Titles before a name, and letters after it. */
const TITLES = new Set(
  "am baroness dame dr esq hon jr lady lord md miss mp mr mrs ms msp phd prof qc rt sir sr".split(
    " ",
  ),
);

interface VoiceKey {
  id: string;
  words: string[];
  needsCapital: boolean;
}

/**
 * All ways to name the speakers, longest first: the name, its first words, its last one, the label.
 */
function keysOf(voices: readonly NamedVoice[]): VoiceKey[] {
  const keys: VoiceKey[] = [];
  for (const { label, name } of voices) {
    const number = /^S(\d+)$/.exec(label)?.[1];
    const id = voiceId(label, name);
    if (number !== undefined) {
      keys.push({ id, words: [`s${number}`], needsCapital: false });
      keys.push({ id, words: ["speaker", number], needsCapital: false });
    }
    const parts = wordsOf(name).map(foldWord);
    const own = parts.filter((part) => !TITLES.has(part));
    for (const all of own.length > 1 && own.length < parts.length ? [parts, own] : [parts]) {
      for (let count = all.length; count > 0; count -= 1) {
        const words = all.slice(0, count);
        keys.push({ id, words, needsCapital: count === 1 && needsCapital(words[0], parts.length) });
      }
    }
    const last = own.at(-1) ?? "";
    if (parts.length > 1 && last.length > 3) keys.push({ id, words: [last], needsCapital: true });
  }
  return keys.sort((a, b) => b.words.length - a.words.length);
}

/** A single word needs a capital to be a name if it may be a word of the topic. */
function needsCapital(word = "", parts: number): boolean {
  return parts > 1 || WORDLIKE.has(word) || isStopWord(word);
}

/** The id of a speaker: the name when the label is claimed, else the label. */
export function voiceId(label: string, name: string): string {
  return name === "" ? label.toLowerCase() : wordsOf(name).map(foldWord).join(" ");
}
