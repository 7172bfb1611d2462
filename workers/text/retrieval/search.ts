import { isEnglish } from "../../../src/language/english.ts";
import type { Conversation } from "../../../src/wire/gen/voice/v1/retrieval.ts";
import {
  cutSentences,
  isSaidBy,
  packUnits,
  type Sentence,
  type Steps,
  type Unit,
} from "./document.ts";
import { type Question, readQuestion } from "./question.ts";
import { isWithin } from "./question-time.ts";
import { type Reach, rarities, scoreUnits, smooth, type Term } from "./ranking.ts";
import { synonymsOf } from "./synonyms.ts";
import { foldWord, Stemmer } from "./words.ts";

/** Weight of a synonym, which counts only for a word that was never said. */
const SYNONYM = 0.8;
const MIN_LENGTH = 4;
const MIN_LIKENESS = 0.5;
const MAX_VARIANTS = 3;

function trigrams(word: string): Set<string> {
  const padded = `  ${word} `;
  const grams = new Set<string>();
  for (let at = 0; at + 3 <= padded.length; at += 1) grams.add(padded.slice(at, at + 3));
  return grams;
}

/** Similarity of two words: Dice's coefficient of their trigrams, 0..1. */
export function likeness(one: string, other: string): number {
  const a = trigrams(one);
  const b = trigrams(other);
  let shared = 0;
  for (const gram of a) if (b.has(gram)) shared += 1;
  return (2 * shared) / (a.size + b.size);
}

/** The words that were said in a language. */
interface Spoken {
  stemmer: Stemmer;
  vocabulary: ReadonlySet<string>;
}

/** Stems of spoken words similar to `word`, which itself was never recognised; best first. */
function similarStems(
  word: string,
  { stemmer, vocabulary }: Spoken,
): { stem: string; likeness: number }[] {
  const folded = foldWord(word);
  if (folded.length < MIN_LENGTH || /\d/.test(folded)) return [];
  const best = new Map<string, number>();
  for (const candidate of vocabulary) {
    if (candidate.length < MIN_LENGTH || Math.abs(candidate.length - folded.length) > 3) continue;
    const like = likeness(folded, candidate);
    if (like < MIN_LIKENESS) continue;
    const stem = stemmer.stem(candidate);
    if (stem !== "" && like > (best.get(stem) ?? 0)) best.set(stem, like);
  }
  return [...best]
    .map(([stem, like]) => ({ stem, likeness: like }))
    .sort((a, b) => b.likeness - a.likeness || (a.stem < b.stem ? -1 : 1))
    .slice(0, MAX_VARIANTS);
}

/** Chosen on the training part of QMSum, as the units and their bonus. */
const REACH: Reach = { before: 250, after: 500 };
/** Bonus for a unit that is spoken entirely by a requested speaker, relative to its score. */
const VOICE_BOOST = 1;

/** The conversations, indexed and ranked for a question. */
export interface Search {
  question: Question;
  conversations: readonly Conversation[];
  sentences: readonly Sentence[];
  units: readonly Unit[];
  terms: readonly Term[];
  /** Rarity of each term among the sentences. */
  weights: readonly number[];
  /** Smoothed relevance of each unit; 0 outside the requested times. */
  scores: readonly number[];
  /** True when a word was found only by its similarity to a spoken one. */
  isFuzzy: boolean;
}

interface SearchRequest {
  query: string;
  nowMs: number;
  conversations: readonly Conversation[];
}

/** Parses the question and ranks every unit of the conversations. */
export function* search({ query, nowMs, conversations }: SearchRequest): Steps<Search> {
  const voices = conversations.flatMap((conversation) => conversation.voices);
  const question = readQuestion(query, voices, nowMs);
  const stemmers = new Map(conversations.map(({ language }) => [language, new Stemmer(language)]));
  const fallback = new Stemmer("");
  const stemmerOf = (language: string): Stemmer => stemmers.get(language) ?? fallback;
  const sentences = yield* cutSentences(conversations, stemmerOf);
  const units = packUnits(sentences);
  const { terms: all, isFuzzy } = yield* expand(question, sentences, [...stemmers.values()]);
  const terms = question.measure === "money" ? withoutUnsaidPrice(all, sentences) : all;
  const idf = rarities(
    terms,
    units.map((unit) => unit.counts),
  );
  yield undefined;
  const smoothed = smooth(scoreUnits(terms, idf, units), units, REACH);
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

const PRICE = /^(?:cost|costs|price|prices|spend|pay|paid|charge|worth|expensive)$/i;

/** An amount of money tells what something costs also where nobody says "cost". */
function withoutUnsaidPrice(terms: readonly Term[], sentences: readonly Sentence[]): Term[] {
  const isSaid = ({ stems }: Term): boolean =>
    sentences.some((sentence) => [...stems.keys()].some((stem) => sentence.terms.has(stem)));
  return terms.filter((term) => !PRICE.test(term.word) || isSaid(term));
}

/** Length of each conversation in milliseconds, by its last passage. */
export function lengthsOf(conversations: readonly Conversation[]): number[] {
  return conversations.map(({ passages }) =>
    passages.reduce((end, passage) => Math.max(end, passage.endMs), 0),
  );
}

/** True when the unit overlaps the requested times. */
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

/** Share of a unit's words that the requested speakers spoke; 0 when none was requested. */
function shareOf(unit: Unit, sentences: readonly Sentence[], voices: ReadonlySet<string>): number {
  if (voices.size === 0) return 0;
  let spoken = 0;
  for (let at = unit.first; at < unit.end; at += 1) {
    const sentence = sentences[at];
    if (sentence !== undefined && isSaidBy(sentence, voices)) spoken += sentence.length;
  }
  return spoken / Math.max(1, unit.length);
}

/** The topic's words as stems; a word that was never spoken also matches similar stems. */
function* expand(
  question: Question,
  sentences: readonly Sentence[],
  stemmers: readonly Stemmer[],
): Steps<{ terms: Term[]; isFuzzy: boolean }> {
  const spoken = new Set<string>();
  for (const sentence of sentences) for (const term of sentence.terms.keys()) spoken.add(term);
  // Taken now, as stemming the question adds its words.
  const languages = stemmers.map((stemmer) => ({ stemmer, vocabulary: stemmer.knownWords() }));
  let isFuzzy = false;
  const terms = new Map<string, Term>();
  for (const word of question.words) {
    const own = [...new Set(stemmers.map((stemmer) => stemmer.stem(word)))].filter(Boolean);
    const [stem] = own;
    if (stem === undefined || terms.has(stem)) continue;
    const stems = new Map(own.map((each) => [each, 1]));
    if (!own.some((each) => spoken.has(each))) {
      yield undefined;
      const synonyms = saidSynonyms(word, spoken, stemmers);
      for (const synonym of synonyms) stems.set(synonym, SYNONYM);
      if (synonyms.length === 0) {
        for (const similar of languages.flatMap((each) => similarStems(word, each))) {
          stems.set(similar.stem, similar.likeness);
          isFuzzy = true;
        }
      }
    }
    terms.set(stem, { word, stems });
  }
  return { terms: [...terms.values()], isFuzzy };
}

function saidSynonyms(
  word: string,
  spoken: ReadonlySet<string>,
  stemmers: readonly Stemmer[],
): string[] {
  const stems = synonymsOf(word).flatMap((other) => stemmers.map((each) => each.stem(other)));
  return stems.filter((stem) => spoken.has(stem));
}

/**
 * Score from which a question is answered, and the weights of what it is made of. Chosen by logistic
 * regression on meetings of QMSum (training part, whole and cut to some 50 turns), so that less
 * than one of ten answerable questions is refused, and nine of ten about other matters.
 */
const ENOUGH = -0.4;
const OF_THEME = 0.27;
const OF_STRANGER = -0.51;
/** With less in one place it is refused, however short the conversation; of two words with more. */
const LEAST_PLACE = 0.5;
const LEAST_OF_TWO = 0.6;
/** Strangers beyond these say no more. */
const MOST_STRANGERS = 2;
/** Share from which everything was said in one place, however seldom that is spoken of. */
const ALL_OF_IT = 0.9;
/** Long questions are never covered completely, so their share counts for more. */
const LENGTH_POWER = 0.4;
/** Keeps the logarithm of what is hardly spoken of within bounds. */
const LEAST_SHARE = 0.001;

/**
 * True when enough of the question was spoken about for an answer: in one place, and all along; names
 * that nobody said speak against it.
 */
export function isCovered(found: Search): boolean {
  const { terms, units, scores, sentences, question } = found;
  const lengths = lengthsOf(found.conversations);
  const total = found.weights.reduce((sum, weight) => sum + weight, 0);
  if (total === 0) return false;
  const shares: number[] = [];
  for (const [at, unit] of units.entries()) {
    // What is outside the times that are asked for says nothing of the theme within them.
    if (!isUnitWithin(unit, sentences, question, lengths)) continue;
    shares.push(scores[at] === 0 ? 0 : matchedWeight(found, unit) / total);
  }
  const best = Math.max(0, ...shares);
  if (best === 0) return false;
  const strangers = Math.min(MOST_STRANGERS, countStrangers(found));
  if (best >= ALL_OF_IT && strangers === 0) return true;
  const place = best * terms.length ** LENGTH_POWER;
  if (place < (terms.length > 2 ? LEAST_PLACE : LEAST_OF_TWO)) return false;
  const mean = shares.reduce((sum, share) => sum + share, 0) / shares.length;
  const theme = Math.log(mean + LEAST_SHARE);
  return place + OF_THEME * theme + OF_STRANGER * strangers >= ENOUGH;
}

/**
 * The weight of the question's words that were spoken in a unit. They are weighted by rarity, and
 * words that were never said like the rarest.
 */
function matchedWeight({ terms, weights }: Search, { counts }: Unit): number {
  return terms.reduce((sum, term, at) => sum + (weights[at] ?? 0) * bestOf(term, counts), 0);
}

/** Number of names in the question that nobody said: words with a capital, in English. */
function countStrangers({ question, terms, sentences, conversations }: Search): number {
  if (!conversations.every(({ language }) => isEnglish(language))) return 0;
  const isSaid = ({ stems }: Term): boolean => {
    const [own = ""] = stems.keys();
    return sentences.some((sentence) => sentence.terms.has(own));
  };
  return terms.filter(
    (term) => /^\p{Lu}/u.test(term.word) && term.word !== question.firstWord && !isSaid(term),
  ).length;
}

/** Weight of the best stem of the term among the counts; similar words do not add up to the same. */
export function bestOf({ stems }: Term, counts: ReadonlyMap<string, number>): number {
  let best = 0;
  for (const [stem, weight] of stems) if (counts.has(stem)) best = Math.max(best, weight);
  return best;
}
