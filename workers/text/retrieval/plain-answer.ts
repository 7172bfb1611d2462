import { isEnglish } from "../../../src/language/english.ts";
import { quoteAll } from "./compose.ts";
import {
  CUES,
  confirms,
  statesAllotted,
  statesAmount,
  statesChoice,
  statesDeadline,
  statesDecision,
  statesName,
  statesNext,
  statesOpen,
} from "./cues.ts";
import { isSaidBy } from "./document.ts";
import type { Deed, Measure, PlainKind } from "./plain-question.ts";
import { REPLY_REACH, rankPlain } from "./plain-ranking.ts";
import { isWithin } from "./question-time.ts";
import { frequency } from "./ranking.ts";
import { isCovered, lengthsOf, type Search } from "./search.ts";
import { isQuestion, type Pick, rankSentences, type SelectLimits, select } from "./select.ts";
import type { Draft } from "./tallies.ts";
import {
  conversationLength,
  extremeSpeaker,
  speakerAtEdge,
  speakingTime,
  topicTime,
} from "./timings.ts";

/** `absent`: nothing bears an answer; `other`: no rule answers it. */
type PlainResult = Draft | "absent" | "other";

const FEW: SelectLimits = { sentences: 3, words: 80, floor: 0.5 };
/** A date is often in the reply, which has fewer words of the topic. */
const DATES: SelectLimits = { ...FEW, floor: 0.3 };
const SEVERAL: SelectLimits = { sentences: 6, words: 160, floor: 0.3 };

/** Answers a plain question by the rule of its kind. */
export function answerPlainly(found: Search, kind: PlainKind, across: boolean): PlainResult {
  const computed = computedAnswer(found, kind, across);
  if (computed !== "other") return computed;
  if (!found.conversations.every(({ language }) => isEnglish(language))) return "other";
  const quote = (picks: readonly Pick[]): PlainResult => quoted(found, picks, across);
  if (kind === "name" && (found.terms.length > 0 || found.question.voices.size === 0))
    return "other";
  if (found.terms.length === 0) {
    const cued = rankCued(found, kind);
    return cued === undefined ? "other" : quote(selectFor(kind, cued, false));
  }
  if (kind === "agenda" || kind === "closing") return "other";
  if (!isCovered(found) || isHalfUnsaid(found)) return "absent";
  if (kind === "first-mention" || kind === "when-first") return quote(firstMention(found));
  const ranked = rankForKind(found, kind);
  return ranked.length === 0 && kind === "who" ? "other" : quote(selectFor(kind, ranked, true));
}

/** True where one of two words is a name that was never said: "the Christmas party" is not any party. */
function isHalfUnsaid({ terms, units }: Search): boolean {
  if (terms.length !== 2) return false;
  const names = terms.filter(({ word }) => /^\p{Lu}/u.test(word));
  return names.some((name) => units.every(({ counts }) => frequency(name, counts) === 0));
}

/** What was decided of a topic is often told in several sentences. */
const DECISIONS: SelectLimits = { sentences: 5, words: 90, floor: 0.4 };

function limitsOf(kind: PlainKind, hasTopic: boolean): SelectLimits {
  if (kind === "decision" && hasTopic) return DECISIONS;
  if (isList(kind, hasTopic)) return SEVERAL;
  return kind === "when" ? DATES : FEW;
}

/** Kinds whose answer is several sentences, in the order in which they were said. */
function isList(kind: PlainKind, hasTopic: boolean): boolean {
  return kind === "open" || (!hasTopic && (kind === "decision" || kind === "disagreement"));
}

function computedAnswer(found: Search, kind: PlainKind, across: boolean): PlainResult {
  switch (kind) {
    case "most":
    case "least":
      return found.terms.length > 0 ? "other" : (extremeSpeaker(found, kind) ?? "absent");
    case "first-speaker":
    case "last-speaker": {
      const edge = speakerAtEdge(found, kind === "first-speaker" ? "first" : "last");
      if (edge === undefined) return "absent";
      return { text: quoteAll([edge], found.conversations, across), sentences: [edge] };
    }
    case "length":
      return conversationLength(found) ?? "other";
    case "speaking-time":
      return speakingTime(found) ?? "absent";
    case "topic-time":
      if (found.terms.length === 0) return speakingTime(found) ?? "other";
      return isCovered(found) ? (topicTime(found) ?? "absent") : "absent";
    default:
      return "other";
  }
}

/** The best first, as that is what was asked for; lists in order. */
function selectFor(kind: PlainKind, ranked: readonly Pick[], hasTopic: boolean): Pick[] {
  const chosen = select(ranked, limitsOf(kind, hasTopic));
  if (isList(kind, hasTopic)) return chosen;
  const [best, ...others] = chosen.sort((a, b) => b.score - a.score || a.index - b.index);
  if (best === undefined) return [];
  // Who did it is who is named first.
  if (kind === "who") return chosen;
  // A reply is read after its question.
  const asked = others.find((pick) => isQuestion(pick.sentence.clear) && isReplyTo(best, pick));
  return asked === undefined ? chosen : [asked, best, ...others.filter((pick) => pick !== asked)];
}

function isReplyTo({ index, sentence }: Pick, asked: Pick): boolean {
  const distance = index - asked.index;
  const isSame = sentence.conversation === asked.sentence.conversation;
  return isSame && distance > 0 && distance <= REPLY_REACH;
}

function quoted(found: Search, picks: readonly Pick[], across: boolean): PlainResult {
  const sentences = picks.map(({ sentence }) => sentence);
  if (sentences.length === 0) return "absent";
  return { text: quoteAll(sentences, found.conversations, across), sentences };
}

/** Sentences within the requested times and of the requested speakers that may be quoted. */
function quotable(found: Search): Pick[] {
  const { within } = found.question.times;
  const lengths = lengthsOf(found.conversations);
  return found.sentences.flatMap((sentence, index) => {
    const { conversation, passage, isQuotable } = sentence;
    if (!isQuotable || !isSaidBy(sentence, found.question.voices)) return [];
    const length = lengths[conversation] ?? 0;
    if (within && !isWithin(within, passage.startMs, passage.endMs, length)) return [];
    return [{ sentence, index, score: 0 }];
  });
}

/** Sentences that the kind's cue alone finds; undefined for kinds that need a topic. */
function rankCued(found: Search, kind: PlainKind): Pick[] | undefined {
  const score = cueOf(kind, found.question.measure);
  if (score === undefined) return undefined;
  const lengths = lengthsOf(found.conversations);
  const picks = quotable(found).flatMap((pick) => {
    const { clear, length, passage, conversation } = pick.sentence;
    const at = passage.startMs / Math.max(1, lengths[conversation] ?? 0);
    const weight = length < 4 ? 0.3 : 1;
    const own = { ...pick, score: weight * score(clear, at) };
    const next = found.sentences[pick.index + 1];
    if (kind !== "next" || next?.passage !== passage || length > SHORT) return [own];
    // "Next meeting. Thirty minutes."
    const joined = score(`${clear} ${next.clear}`, at);
    if (!next.isQuotable || joined <= own.score) return [own];
    return [
      { ...own, score: joined },
      { sentence: next, index: pick.index + 1, score: joined },
    ];
  });
  const best = unique(picks.filter((pick) => pick.score > 0));
  const all = kind === "decision" ? withAntecedents(found, best) : best;
  return all.sort((a, b) => b.score - a.score || a.index - b.index);
}

/** Most words of a sentence that is read together with the next one. */
const SHORT = 6;

/** Each sentence once, with its best score. */
function unique(picks: readonly Pick[]): Pick[] {
  const byIndex = new Map<number, Pick>();
  for (const pick of picks) {
    if (pick.score > (byIndex.get(pick.index)?.score ?? 0)) byIndex.set(pick.index, pick);
  }
  return [...byIndex.values()];
}

type CueScore = (clear: string, at: number) => number;

function cueOf(kind: PlainKind, measure: Measure | undefined): CueScore | undefined {
  switch (kind) {
    case "amount":
    case "number":
      if (measure !== "money") return undefined;
      return (clear) => (statesAmount(clear, measure) === 2 ? (isQuestion(clear) ? 0.5 : 1) : 0);
    case "next":
      return (clear, at) => {
        const sure = statesNext(clear);
        return sure === 0 ? 0 : sure + (isQuestion(clear) ? 0 : 0.5) + at;
      };
    case "allotted":
      return (clear) => statesAllotted(clear) * (isQuestion(clear) ? 0.5 : 1);
    case "when":
      return (clear, at) => statesDeadline(clear) * (isQuestion(clear) ? 0.5 : 1) * (1 + at / 2);
    case "name":
      return statesName;
    case "open":
      return (clear, at) => statesOpen(clear) * (1 + at / 2);
    case "decision":
      return (clear, at) => statesDecision(clear) * (1 + at / 2);
    case "agenda":
      return (clear, at) => (CUES.beginning.test(clear) ? 2 : 0) * Math.max(0, 0.4 - at);
    case "disagreement":
      return (clear) => (CUES.disagreement.test(clear) && !isQuestion(clear) ? 1 : 0);
    default:
      return undefined;
  }
}

const BACK = 4;

/** Adds to "that is decided" the sentence before it that it confirms. */
function withAntecedents(found: Search, picks: readonly Pick[]): Pick[] {
  const known = new Set(picks.map(({ index }) => index));
  const added: Pick[] = [];
  for (const { sentence, index, score } of picks) {
    if (!confirms(sentence.clear)) continue;
    const before = [1, 2, 3, BACK].flatMap((back) => {
      const earlier = found.sentences[index - back];
      const isSame = earlier?.conversation === sentence.conversation && earlier.isQuotable;
      return isSame && earlier.length > 3
        ? [{ sentence: earlier, index: index - back, score }]
        : [];
    });
    const meant = before.find((pick) => CUES.proposal.test(pick.sentence.clear)) ?? before[0];
    if (meant === undefined || known.has(meant.index)) continue;
    known.add(meant.index);
    added.push({ ...meant, score: score * 1.1 });
  }
  return [...picks, ...added];
}

/** Share at which what a sentence refers to counts for its topic. */
const CONTEXT = 0.5;
/** As `CONTEXT`, for dates and amounts, which are often in a reply. */
const CONTEXT_OF_CUES = 0.9;

/** Weight of a decision among the sentences of a topic. */
const DECIDING = 0.5;

/** The ranking by topic, changed by what an answer of the kind looks like. */
function rankForKind(found: Search, kind: PlainKind): Pick[] {
  const ranking =
    kind === "decision"
      ? rankSentences(found)
      : rankPlain(found, isCued(kind) ? CONTEXT_OF_CUES : CONTEXT);
  const lengths = lengthsOf(found.conversations);
  const picks = ranking.map((pick) => {
    const { passage, conversation } = pick.sentence;
    const at = passage.startMs / Math.max(1, lengths[conversation] ?? 0);
    return { ...pick, score: pick.score * bonusOf(found, pick, kind, at) };
  });
  const opposed = kind === "disagreement" ? withOpposed(picks) : picks;
  const kept = opposed.filter(({ score }) => score > 0);
  return kept.sort((a, b) => b.score - a.score || a.index - b.index);
}

function isCued(kind: PlainKind): boolean {
  return ["allotted", "amount", "next", "number", "when"].includes(kind);
}

function bonusOf(
  { question, sentences }: Search,
  { sentence: { clear, voice }, index }: Pick,
  kind: PlainKind,
  at: number,
): number {
  const asked = isQuestion(clear) ? 0.5 : 1;
  switch (kind) {
    case "when":
      return dateBonus(question.isDue, clear) * asked;
    case "next":
      return CUES.date.test(clear) ? 3 * asked : 1;
    case "allotted":
      return 1.5 * statesAllotted(clear) * asked;
    case "number":
      return 1.5 * statesAmount(clear, question.measure) * asked;
    case "amount":
      return 0.5 + statesAmount(clear, question.measure) * asked;
    case "decision":
      return (1 + DECIDING * statesChoice(clear)) * (1 + at / 4);
    case "open":
      return 1 + statesOpen(clear);
    case "disagreement":
      return CUES.disagreement.test(clear) ? 3 : 0.3;
    case "who":
      return deedBonus(clear, voice !== sentences[index - 1]?.voice, question.deed);
    default:
      return 1;
  }
}

/** Most sentences between a statement and one that speaks against it. */
const OPPOSED_REACH = 20;
const NEGATION = /n['’]t\b|\b(?:not?|never|without|no longer|unnecessary)\b/i;
const OWN_OPINION = /\bi (?:\w+ )?(?:think|believe|prefer|like|want|would)\b|\bi['’]d\b/i;
const JUDGEMENT = /\b(?:but|still|good|important|better|necessary|useful|need)\b/i;

/** The picks, more for an opinion that contradicts what another speaker said of the topic before. */
function withOpposed(picks: readonly Pick[]): Pick[] {
  const inOrder = [...picks].sort((a, b) => a.index - b.index);
  return inOrder.map((pick, at) => {
    const { clear, voice, conversation } = pick.sentence;
    if (CUES.disagreement.test(clear) || isQuestion(clear)) return pick;
    const force = OWN_OPINION.test(clear) ? 9 : JUDGEMENT.test(clear) ? 5 : 1;
    const isOpposed = inOrder.slice(0, at).some(({ index, sentence }) => {
      const isNear = pick.index - index <= OPPOSED_REACH && sentence.conversation === conversation;
      const isOther = sentence.voice !== voice && !isQuestion(sentence.clear);
      return isNear && isOther && NEGATION.test(sentence.clear) !== NEGATION.test(clear);
    });
    return isOpposed ? { ...pick, score: pick.score * force } : pick;
  });
}

function dateBonus(isDue: boolean, clear: string): number {
  if (!CUES.date.test(clear)) return 1;
  return isDue && statesDeadline(clear) === 2 ? 4 : 3;
}

function deedBonus(clear: string, isReply: boolean, deed: Deed | undefined): number {
  const own = FIRST_PERSON.test(clear) ? 1.2 : 1;
  if (deed === undefined) return own;
  if (deed === "question") return isQuestion(clear) ? 3 : 1;
  if (deed === "agreement") return isReply && CUES.agreement.test(clear) ? 3 : 1;
  if (deed === "liking") return CUES.liking.test(clear) ? 2.2 : 1;
  return CUES[deed].test(clear) ? 1.6 : 1;
}

/** What somebody says of themselves tells who it is. */
const FIRST_PERSON = /\b(?:i|i['’]\w+|my|me|mine)\b/i;

/** The earliest sentence that holds nearly as much of the topic as any. */
function firstMention(found: Search): Pick[] {
  const scored = quotable(found).map((pick) => {
    const score = found.terms.reduce((sum, term, at) => {
      const count = Math.min(1, frequency(term, pick.sentence.terms));
      return sum + (found.weights[at] ?? 0) * count;
    }, 0);
    return { ...pick, score };
  });
  const best = Math.max(0, ...scored.map(({ score }) => score));
  const first = scored.find(({ score }) => best > 0 && score >= best * 0.7);
  return first === undefined ? [] : [first];
}
