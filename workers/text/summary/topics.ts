import { clockTime } from "../../../src/wire/clock-time.ts";
import type { SummaryItem } from "../../../src/wire/gen/voice/v1/text.ts";
import { type NounPhrase, nounPhrasesOf, toSingulars } from "./noun-phrases.ts";
import type { Sentence, SpokenText } from "./spoken-text.ts";
import { englishOnly, nothing, type SummaryDraft, toList } from "./summary-draft.ts";

const MAX_TOPICS = 10;
/**
 * Finding noun phrases takes milliseconds per sentence. So only a few sentences of each of the most
 * frequent terms are parsed, and then all are counted.
 */
const MAX_TERMS = 60;
const SENTENCES_PER_TERM = 5;
/** Sentences counted in one step. */
const STEP = 100;
/** Most mentions that an item names. */
const MAX_SOURCES = 50;

interface Topic extends NounPhrase {
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
    for (const { phrase, terms } of nounPhrasesOf(sentence)) {
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

/** False for a frequent word that was parsed as a noun only once. */
function isTopic({ count, found }: Topic): boolean {
  return count > 0 && (count < SENTENCES_PER_TERM || found > 1);
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
