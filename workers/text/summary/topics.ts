import { compromise } from "../../../src/language/compromise.ts";
import { clockTime } from "../../../src/wire/clock-time.ts";
import type { SummaryItem } from "../../../src/wire/gen/voice/v1/text.ts";
import { isStopWord, toWords } from "../language/terms.ts";
import type { Sentence, SpokenText } from "./spoken-text.ts";
import { englishOnly, nothing, type SummaryDraft, toList } from "./summary-draft.ts";

const MAX_TOPICS = 10;
const MAX_PHRASE_WORDS = 4;
/**
 * Finding noun phrases takes milliseconds per sentence. So only a few sentences of each of the most
 * frequent terms are parsed, and then all are counted.
 */
const MAX_TERMS = 60;
const SENTENCES_PER_TERM = 5;
const MAX_READ_WORDS = 60;
const MIN_LETTERS = 3;
/** Sentences counted in one step. */
const STEP = 100;
/** Phrases of only these terms are times, not topics. */
const TIME_TERMS: ReadonlySet<string> = new Set(
  toWords(
    `monday tuesday wednesday thursday friday saturday sunday january february march april june july
    august september october november december today tomorrow yesterday tonight morning afternoon
    evening night noon minute hour day week month quarter year time moment beginning end start
    middle first second third last next one two three four five six seven eight nine ten`,
  ),
);
/** Most mentions that an item names. */
const MAX_SOURCES = 50;

interface Topic {
  phrase: string;
  /** Its words without stop words, in the singular. */
  terms: readonly string[];
  /** Number of parsed sentences that have it as a noun phrase. */
  found: number;
  count: number;
  firstMs: number;
  segmentIds: Set<string>;
}

/** The topics: noun phrases with their number of mentions and first time. English only. */
export function* listTopics(text: SpokenText): Generator<number, SummaryDraft> {
  if (!text.english) return englishOnly("Topics", text);
  const topics = yield* findPhrases(text);
  for (const sentence of text.sentences) {
    const words = toSingulars(sentence.clear);
    for (const topic of topics) note(topic, words, sentence);
    if (sentence.index % STEP === STEP - 1)
      yield 0.8 + (0.2 * sentence.index) / text.sentences.length;
  }
  const chosen = topics
    .filter(isTopic)
    .toSorted((a, b) => worthOf(b) - worthOf(a) || a.firstMs - b.firstMs)
    .slice(0, MAX_TOPICS);
  if (chosen.length === 0) return nothing("No topics were found.");
  return toList(withoutParts(chosen).map(toItem), (item) => item.text);
}

function* findPhrases({ sentences }: SpokenText): Generator<number, Topic[]> {
  const topics = new Map<string, Topic>();
  const chosen = chooseSentences(sentences);
  for (const [index, sentence] of chosen.entries()) {
    for (const phrase of phrasesOf(sentence)) {
      const terms = toSingulars(phrase);
      if (terms.length === 0 || terms.every(isTime)) continue;
      const key = terms.join(" ");
      const known = topics.get(key);
      if (known !== undefined) known.found += 1;
      else
        topics.set(key, { phrase, terms, found: 1, count: 0, firstMs: 0, segmentIds: new Set() });
    }
    yield (0.8 * (index + 1)) / chosen.length;
  }
  return [...topics.values()];
}

/** The first few sentences of each frequent term. */
function chooseSentences(sentences: readonly Sentence[]): Sentence[] {
  const users = new Map<string, Sentence[]>();
  for (const sentence of sentences) {
    for (const term of new Set(sentence.terms)) {
      const known = users.get(term);
      if (known === undefined) users.set(term, [sentence]);
      else known.push(sentence);
    }
  }
  const frequent = [...users.values()]
    .toSorted((a, b) => b.length - a.length)
    .slice(0, MAX_TERMS)
    .flatMap((found) => found.slice(0, SENTENCES_PER_TERM));
  return [...new Set(frequent)];
}

function phrasesOf({ clear }: Sentence): string[] {
  const words = clear.split(/\s+/u).slice(0, MAX_READ_WORDS).join(" ");
  const phrases: string[] = compromise()(words).nouns().out("array");
  return phrases.map(trimPhrase).filter((phrase) => phrase.length >= MIN_LETTERS);
}

/** Removes articles, pronouns and other words without meaning from both ends. */
function trimPhrase(phrase: string): string {
  const words = toWords(phrase);
  while (isStopWord(words[0] ?? "x")) words.shift();
  while (isStopWord(words.at(-1) ?? "x")) words.pop();
  return words.length > MAX_PHRASE_WORDS ? "" : words.join(" ");
}

/** Singular forms; unlike stems they keep similar words apart: "news" and "new". */
function toSingulars(text: string): string[] {
  return toWords(text)
    .filter((word) => !isStopWord(word))
    .map(toSingular);
}

function toSingular(word: string): string {
  if (word.length <= MIN_LETTERS + 1 || /(?:ss|us|is)$/u.test(word)) return word;
  return word.replace(/ies$/u, "y").replace(/(?<=x|ch|sh|ss)es$|s$/u, "");
}

/** False for a frequent word that was parsed as a noun only once. */
function isTopic({ count, found }: Topic): boolean {
  return count > 0 && (count < SENTENCES_PER_TERM || found > 1);
}

function isTime(term: string): boolean {
  return /^\d+(?:st|nd|rd|th)?$/u.test(term) || TIME_TERMS.has(term);
}

/** Counts the sentence when it contains the topic's words side by side. */
function note(topic: Topic, words: readonly string[], { segmentId, startMs }: Sentence): void {
  const [first] = topic.terms;
  const holds = words.some(
    (word, at) =>
      word === first && topic.terms.every((expected, offset) => words[at + offset] === expected),
  );
  if (!holds) return;
  if (topic.count === 0) topic.firstMs = startMs;
  topic.count += 1;
  if (topic.segmentIds.size < MAX_SOURCES) topic.segmentIds.add(segmentId);
}

/** Rates a topic by its frequency; of two similarly frequent ones the more specific is higher. */
function worthOf({ count, terms }: Topic): number {
  return count * (1 + 0.5 * Math.min(2, terms.length - 1));
}

/** Removes "net" when "belief net" is listed and is meant most of the time. */
function withoutParts(topics: readonly Topic[]): Topic[] {
  return topics.filter(
    (topic) =>
      !topics.some(
        (other) =>
          other.terms.length > topic.terms.length &&
          topic.terms.every((term) => other.terms.includes(term)) &&
          other.count * 2 > topic.count,
      ),
  );
}

function toItem({ phrase, count, firstMs, segmentIds }: Topic): SummaryItem {
  const times = count === 1 ? "once" : `${count} times`;
  const time = clockTime(firstMs / 1_000);
  const when = count === 1 ? `at ${time}` : `first at ${time}`;
  return { text: `${phrase} (${times}, ${when})`, segmentIds: [...segmentIds] };
}
