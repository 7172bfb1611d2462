import { clearRuns } from "../language/heard-sentences.ts";
import { isSaidBy, type Sentence } from "./document.ts";
import { isWithin } from "./question-time.ts";
import { frequency } from "./ranking.ts";
import { lengthsOf, type Search } from "./search.ts";
import { foldWord, wordsOf } from "./words.ts";

/** A sentence with its score as an answer. */
export interface Pick {
  sentence: Sentence;
  /** Index in the flat list. */
  index: number;
  score: number;
}

export interface SelectLimits {
  sentences: number;
  words: number;
  /** Sentences below this share of the best score are left out. */
  floor: number;
}

const FULL_LENGTH = 12;
const QUESTION_PENALTY = 0.6;
const REPLY_SHARE = 0.5;
const LIKE = 0.6;
const REACH = 1;
const BASE = 0.2;
/** How much more than its own words the place of a sentence in its conversation counts. */
const PLACE_POWER = 3;
const ASKING =
  /^(so |and |but |well )*(what|when|where|who|why|how|which|will|would|could|can|should|do|does|did|is|are|was|were|have|has) (i|you|we|they|he|she|it|the|that|this|there|any|our|your)\b/i;

/** True for a question, by its punctuation or its first words. */
export function isQuestion(text: string): boolean {
  return text.endsWith("?") || (!/[.!]$/.test(text) && ASKING.test(text));
}

/** Sentences that may answer the question, best first. */
export function rankSentences(found: Search): Pick[] {
  const total = found.weights.reduce((sum, weight) => sum + weight, 0);
  const top = Math.max(...found.scores, 0);
  if (top === 0 || total === 0) return [];
  const admits = admission(found);
  const relevance = found.sentences.map((sentence) => {
    const matched = found.terms.reduce(
      (sum, term, at) =>
        sum + (found.weights[at] ?? 0) * Math.min(1, frequency(term, sentence.terms)),
      0,
    );
    return matched / total;
  });
  const picks: Pick[] = [];
  const best = bestPlaces(found);
  for (const [at, unit] of found.units.entries()) {
    const score = found.scores[at] ?? 0;
    if (score === 0) continue;
    const own = best.get(unit.conversation) ?? score;
    const surroundings = (own / top) * (score / own) ** PLACE_POWER;
    for (let index = unit.first; index < unit.end; index += 1) {
      const sentence = found.sentences[index];
      if (sentence === undefined || !admits(sentence)) continue;
      const reply = replyShare(found.sentences[index - 1], sentence, relevance[index - 1] ?? 0);
      if (!isNear(relevance, index)) continue;
      const words = BASE + Math.max(relevance[index] ?? 0, reply);
      picks.push({ sentence, index, score: surroundings * words * weightOf(sentence) });
    }
  }
  return picks.sort((a, b) => b.score - a.score || a.index - b.index);
}

/** The score of the best unit of each conversation. */
function bestPlaces({ units, scores }: Search): Map<number, number> {
  const best = new Map<number, number>();
  for (const [at, { conversation }] of units.entries()) {
    best.set(conversation, Math.max(best.get(conversation) ?? 0, scores[at] ?? 0));
  }
  return best;
}

/** True when the sentence, or one shortly before it, contains a word of the topic. */
function isNear(relevance: readonly number[], index: number): boolean {
  for (let at = index - REACH; at <= index; at += 1) {
    if ((relevance[at] ?? 0) > 0) return true;
  }
  return false;
}

/**
 * Additional score for a sentence that follows another speaker's question, as it may be the answer.
 */
function replyShare(before: Sentence | undefined, sentence: Sentence, relevance: number): number {
  if (before === undefined || before.conversation !== sentence.conversation) return 0;
  const answers = before.voice !== sentence.voice && isQuestion(before.clear);
  return answers ? relevance * REPLY_SHARE : 0;
}

function weightOf({ clear, length }: Sentence): number {
  const full = length < 3 ? 0.1 : Math.min(1, Math.sqrt(length / FULL_LENGTH));
  return isQuestion(clear) ? full * QUESTION_PENALTY : full;
}

/** Decides which sentences may be quoted: by clearness, speaker, time and quoted phrase. */
export function admission({ question, conversations }: Search): (sentence: Sentence) => boolean {
  const lengths = lengthsOf(conversations);
  const { within } = question.times;
  const phrases = question.phrases.map((words) => ` ${words.map(foldWord).join(" ")} `);
  return (sentence) => {
    const { passage, conversation } = sentence;
    const length = lengths[conversation] ?? 0;
    if (!sentence.isQuotable || !isSaidBy(sentence, question.voices)) return false;
    if (within !== undefined && !isWithin(within, passage.startMs, passage.endMs, length)) {
      return false;
    }
    if (phrases.length === 0) return true;
    const runs = clearRuns(sentence.clear);
    const folded = runs.map((run) => ` ${wordsOf(run).map(foldWord).join(" ")} `);
    return phrases.every((phrase) => folded.some((run) => run.includes(phrase)));
  };
}

/** The best sentences that do not repeat each other, in the order in which they were said. */
export function select(ranked: readonly Pick[], limits: SelectLimits): Pick[] {
  const chosen: Pick[] = [];
  const best = ranked[0]?.score ?? 0;
  let words = 0;
  for (const pick of ranked) {
    if (chosen.length >= limits.sentences || pick.score < best * limits.floor) break;
    if (words + pick.sentence.length > limits.words && chosen.length > 0) continue;
    if (chosen.some((other) => overlap(pick.sentence, other.sentence) > LIKE)) continue;
    chosen.push(pick);
    words += pick.sentence.length;
  }
  return chosen.sort((a, b) => a.index - b.index);
}

/** Share of the two sentences' terms that they have in common. */
function overlap(one: Sentence, other: Sentence): number {
  const [small, large] = one.terms.size < other.terms.size ? [one, other] : [other, one];
  if (small.terms.size === 0) return 0;
  let shared = 0;
  for (const term of small.terms.keys()) if (large.terms.has(term)) shared += 1;
  return shared / (small.terms.size + large.terms.size - shared);
}
