import type { Sentence } from "./document.ts";
import { bestOf, type Search } from "./search.ts";
import { admission, isQuestion, type Pick } from "./select.ts";

/** Share of the score that a sentence has by its unit's place among the others. */
const SURROUNDINGS = 0.6;
/** Most sentences between a question and its reply. */
export const REPLY_REACH = 3;
const REPLY = 0.8;
const SAME_TURN: readonly (readonly [offset: number, share: number])[] = [
  [-1, 0.6],
  [-2, 0.35],
  [1, 0.4],
];
const SELF_REPLY = 0.5;
const ANAPHORA = 0.6;
/** Most words of a turn's beginning that is read with the turn before. */
const ELLIPTIC = 6;
/** Fewest words of a sentence that is more than a sign of listening. */
const SAYING = 3;
/** Words from which a sentence is a full one. */
const FULL_LENGTH = 8;
const QUESTION_PENALTY = 0.6;
/** A first word that stands for what was said before. */
const ANAPHORIC =
  /^(?:(?:yes|yeah|no|well|so|and|but|okay|ok|um|uh|oh),? )*(?:it|that|this|they|those|these|he|she|about)(?:['’]\w+)?\b/i;

/**
 * Sentences that may answer a plain question, best first: by how much of the topic they hold
 * themselves, and, at the share `context`, by what they refer to: the turn around them, a question
 * that they reply to, the turn before one that begins with a pronoun.
 */
export function rankPlain(found: Search, context: number): Pick[] {
  const total = found.weights.reduce((sum, weight) => sum + weight, 0);
  const top = Math.max(...found.scores, 0);
  if (top === 0 || total === 0) return [];
  const admits = admission(found);
  const held = found.sentences.map(({ terms }) => found.terms.map((term) => bestOf(term, terms)));
  const shareOf = (covered: readonly number[]): number =>
    covered.reduce((sum, each, at) => sum + each * (found.weights[at] ?? 0), 0) / total;
  const picks: Pick[] = [];
  for (const [at, unit] of found.units.entries()) {
    const surroundings = (found.scores[at] ?? 0) / top;
    if (surroundings === 0) continue;
    for (let index = unit.first; index < unit.end; index += 1) {
      const sentence = found.sentences[index];
      if (sentence === undefined || !admits(sentence)) continue;
      const own = held[index] ?? [];
      const around = sourcesOf(found.sentences, index).map(([source, share]) =>
        (held[source] ?? []).map((each) => each * share),
      );
      const joined = own.map((each, term) =>
        Math.max(each, ...around.map((other) => other[term] ?? 0)),
      );
      const share = shareOf(own) + context * (shareOf(joined) - shareOf(own));
      if (share === 0) continue;
      const place = 1 - SURROUNDINGS + SURROUNDINGS * surroundings;
      picks.push({ sentence, index, score: place * share * weightOf(sentence) });
    }
  }
  return picks.sort((a, b) => b.score - a.score || a.index - b.index);
}

function weightOf({ clear, length }: Sentence): number {
  const full = length < 3 ? 0.2 : Math.min(1, Math.sqrt(length / FULL_LENGTH));
  return isQuestion(clear) ? full * QUESTION_PENALTY : full;
}

/** The sentences that a sentence refers to, with the share at which their words count for it. */
function sourcesOf(sentences: readonly Sentence[], index: number): [number, number][] {
  const own = sentences[index];
  if (own === undefined) return [];
  const sources: [number, number][] = [];
  for (const [offset, share] of SAME_TURN) {
    if (sentences[index + offset]?.passage === own.passage) sources.push([index + offset, share]);
  }
  for (let at = index - 1; at >= index - REPLY_REACH; at -= 1) {
    const before = sentences[at];
    if (before === undefined || before.conversation !== own.conversation) break;
    const isSame = before.voice === own.voice;
    if (isQuestion(before.clear)) sources.push([at, isSame ? SELF_REPLY : REPLY]);
    if (isSame) continue;
    const isDependent = ANAPHORIC.test(own.clear) || own.length <= ELLIPTIC;
    if (at === index - 1 && isDependent) sources.push([at, ANAPHORA]);
    // Who speaks after somebody has replied replies to that.
    if (before.length >= SAYING && !isQuestion(before.clear)) break;
  }
  return sources;
}
