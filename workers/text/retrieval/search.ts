import type { Conversation } from "../../../src/wire/gen/voice/v1/retrieval.ts";
import { cutSentences, isSaidBy, packUnits, type Sentence, type Unit } from "./document.ts";
import { similarStems } from "./fuzzy.ts";
import { type Question, readQuestion } from "./question.ts";
import { isWithin } from "./question-time.ts";
import { rarities, scoreUnits, smooth, type Term } from "./ranking.ts";
import type { Steps } from "./steps.ts";
import { Stemmer } from "./words.ts";

/** Widths in words over which neighbours share their score. */
const WIDTHS = [300];
/** How much more a unit counts that is all spoken by a voice asked for. */
const VOICE_BOOST = 1;

/** The conversations as a question sees them. */
export interface Search {
  question: Question;
  conversations: readonly Conversation[];
  sentences: readonly Sentence[];
  units: readonly Unit[];
  terms: readonly Term[];
  /** Rarity of each term among the sentences. */
  weights: readonly number[];
  /** Relevance of each unit, its surroundings counted; 0 outside the times asked for. */
  scores: readonly number[];
  /** True when a word was found only by its likeness to one that was spoken. */
  isFuzzy: boolean;
}

interface SearchRequest {
  query: string;
  nowMs: number;
  conversations: readonly Conversation[];
}

/** Reads the question and ranks every unit of the conversations for it. */
export function* search({ query, nowMs, conversations }: SearchRequest): Steps<Search> {
  const voices = conversations.flatMap((conversation) => conversation.voices);
  const question = readQuestion(query, voices, nowMs);
  const stemmer = new Stemmer(conversations[0]?.language ?? "");
  const sentences = yield* cutSentences(conversations, stemmer);
  const units = packUnits(sentences);
  const { terms, isFuzzy } = yield* expand(question, sentences, stemmer);
  const idf = rarities(
    terms,
    units.map((unit) => unit.counts),
  );
  yield undefined;
  const smoothed = smooth(scoreUnits(terms, idf, units), units, WIDTHS);
  yield undefined;
  const lengths = lengthsOf(conversations);
  const scores = units.map((unit, index) => {
    if (!isUnitWithin(unit, sentences, question, lengths)) return 0;
    return (smoothed[index] ?? 0) * (1 + VOICE_BOOST * shareOf(unit, sentences, question.voices));
  });
  const weights = rarities(
    terms,
    sentences.map((sentence) => sentence.terms),
  );
  return { question, conversations, sentences, units, terms, weights, scores, isFuzzy };
}

/** Length of each conversation in milliseconds, by its last passage. */
export function lengthsOf(conversations: readonly Conversation[]): number[] {
  return conversations.map(({ passages }) =>
    passages.reduce((end, passage) => Math.max(end, passage.endMs), 0),
  );
}

/** True when a part of the unit lies in the times asked for. */
function isUnitWithin(
  unit: Unit,
  sentences: readonly Sentence[],
  { times }: Question,
  lengths: readonly number[],
): boolean {
  const { within } = times;
  if (within === undefined) return true;
  const length = lengths[unit.conversation] ?? 0;
  return sentences
    .slice(unit.first, unit.end)
    .some(({ passage }) => isWithin(within, passage.startMs, passage.endMs, length));
}

/** Share of a unit's words that the voices asked for spoke; 0 when none was. */
function shareOf(unit: Unit, sentences: readonly Sentence[], voices: ReadonlySet<string>): number {
  if (voices.size === 0) return 0;
  let spoken = 0;
  for (let at = unit.first; at < unit.end; at += 1) {
    const sentence = sentences[at];
    if (sentence !== undefined && isSaidBy(sentence, voices)) spoken += sentence.length;
  }
  return spoken / Math.max(1, unit.length);
}

/** The topic's words as stems; a word that was never spoken also as those that look like it. */
function* expand(
  question: Question,
  sentences: readonly Sentence[],
  stemmer: Stemmer,
): Steps<{ terms: Term[]; isFuzzy: boolean }> {
  const spoken = new Set<string>();
  for (const sentence of sentences) for (const term of sentence.terms.keys()) spoken.add(term);
  const vocabulary = stemmer.knownWords();
  let isFuzzy = false;
  const terms = new Map<string, Term>();
  for (const word of question.words) {
    const stem = stemmer.stem(word);
    if (stem === "" || terms.has(stem)) continue;
    const stems = new Map([[stem, 1]]);
    if (!spoken.has(stem)) {
      yield undefined;
      for (const similar of similarStems(word, vocabulary, stemmer)) {
        stems.set(similar.stem, similar.likeness);
        isFuzzy = true;
      }
    }
    terms.set(stem, { word, stems });
  }
  return { terms: [...terms.values()], isFuzzy };
}
