import { isEnglish } from "../../../src/language/english.ts";
import { clockTime } from "../../../src/wire/clock-time.ts";
import type { Answer, RetrieveRequest } from "../../../src/wire/gen/voice/v1/retrieval.ts";
import { dictionaryOf } from "../language/dictionaries.ts";
import { conversationName, listed, quoteAll } from "./compose.ts";
import { isSaidBy, type Sentence, type Steps } from "./document.ts";
import { phrasesOf } from "./phrases.ts";
import { answerPlainly } from "./plain-answer.ts";
import { isWithin } from "./question-time.ts";
import { isCovered, lengthsOf, type Search, search } from "./search.ts";
import { isQuestion, type Pick, rankSentences, type SelectLimits, select } from "./select.ts";
import {
  countMentions,
  type Draft,
  describeVoices,
  listConversations,
  namesOf,
} from "./tallies.ts";
import { Stemmer } from "./words.ts";

const DECIDED =
  /\b(we|they|i|everyone|the team|the group)(['’]ve| have)? (decided|agreed|settled|made (the|a|our) decision|chose|concluded)\b|\b(decision|agreed) (is|was|that|to)\b|\blet['’]?s (go with|do that|take)\b|\bwe(['’]ll| will| are going to|['’]re going to) (go with|use|take|keep|drop|start)\b/i;
const PROMISED =
  /\b(i|we|you|he|she|they)(['’]ll| will| shall| must| need to| have to| has to|['’]m going to|['’]re going to| am going to| are going to| should)\b(?! (see\b|talk about|discuss|look at))|\b(action item|to-?do|next step|follow up|by (monday|tuesday|wednesday|thursday|friday|saturday|sunday|tomorrow|the end of))\b/i;

const CUES = { decisions: DECIDED, actions: PROMISED } as const;

/** Sentences about decisions or promises, best first. */
function rankCues(found: Search, kind: keyof typeof CUES): Pick[] {
  const cue = CUES[kind];
  return rankCentral(found)
    .filter(({ sentence }) => cue.test(sentence.clear) && !isQuestion(sentence.clear))
    .filter(({ sentence }) => sentence.length > 3);
}

/** Sentences ranked by how much of the conversation's main terms they contain, best first. */
function rankCentral(found: Search): Pick[] {
  const { question, conversations, sentences } = found;
  const lengths = lengthsOf(conversations);
  const counts = new Map<string, number>();
  for (const { terms } of sentences) {
    for (const [term, count] of terms) counts.set(term, (counts.get(term) ?? 0) + count);
  }
  const { within } = question.times;
  const picks: Pick[] = [];
  for (const [index, sentence] of sentences.entries()) {
    const { passage, conversation, length } = sentence;
    if (!sentence.isQuotable || !isSaidBy(sentence, question.voices)) continue;
    const end = lengths[conversation] ?? 0;
    if (within && !isWithin(within, passage.startMs, passage.endMs, end)) continue;
    let weight = 0;
    for (const term of sentence.terms.keys()) weight += Math.log((counts.get(term) ?? 0) + 0.5);
    const score = Math.max(0, weight) / Math.sqrt(length + 4);
    picks.push({ sentence, index, score: isQuestion(sentence.clear) ? score / 2 : score });
  }
  return picks.sort((a, b) => b.score - a.score || a.index - b.index);
}

/** Most positions of unclear words that an answer names. */
const MAX_MOMENTS = 3;
const LOOKUP: SelectLimits = { sentences: 5, words: 90, floor: 0.52 };
/** Share of the best score from which a sentence counts as being about the topic. */
const SPEAKS_OF = 0.6;
const OVERVIEW: SelectLimits = { sentences: 5, words: 120, floor: 0 };
const CUE_LIMITS: SelectLimits = { sentences: 8, words: 200, floor: 0 };

/** Answers from the conversations by quoting them. Deterministic; nothing is stored. */
export function* answerQuestion(request: RetrieveRequest): Steps<Answer> {
  const found = yield* search(request);
  yield undefined;
  const tools = toolsOf(found);
  const draft =
    found.sentences.length === 0 ? undefined : draftAnswer(found, request.across, tools);
  if (draft === undefined) {
    return { text: nothingFound(found, request.across), toolsUsed: [...tools], citations: [] };
  }
  return {
    text: draft.text,
    toolsUsed: [...tools],
    citations: citationsOf(found, draft.sentences),
  };
}

/** Tools that every answer to the question uses. */
function toolsOf({ question, isFuzzy }: Search): Set<string> {
  const tools = new Set(["segment_reader"]);
  if (question.voices.size > 0) tools.add("speaker_filter");
  if (question.times.within !== undefined) tools.add("time_filter");
  if (question.phrases.length > 0) tools.add("phrase_filter");
  if (isFuzzy) tools.add("fuzzy_match");
  return tools;
}

function draftAnswer(found: Search, across: boolean, tools: Set<string>): Draft | undefined {
  const { intent, plain } = found.question;
  if (plain !== undefined) {
    const answered = answerPlainly(found, plain, across);
    if (answered === "absent") return undefined;
    if (answered !== "other") {
      tools.add("plain_rules");
      return answered;
    }
  }
  if (intent === "voices") {
    tools.add("speaker_statistics");
    return describeVoices(found);
  }
  if (intent === "decisions" || intent === "actions") {
    tools.add(intent === "decisions" ? "decision_cues" : "commitment_cues");
    return quoted(found, select(rankCues(found, intent), CUE_LIMITS), across);
  }
  if (found.terms.length === 0) {
    tools.add("central_sentences");
    return quoted(found, select(rankCentral(found), OVERVIEW), across);
  }
  return draftFromTopic(found, across, tools);
}

function draftFromTopic(found: Search, across: boolean, tools: Set<string>): Draft | undefined {
  const { intent } = found.question;
  if (intent === "count") {
    tools.add("count_mentions");
    return countMentions(found);
  }
  tools.add("hierarchical_retrieval");
  if (!isCovered(found)) return undefined;
  const ranked = rankSentences(found);
  if (intent === "sessions" && across) {
    tools.add("list_sessions");
    return listConversations(found, relevant(ranked));
  }
  const draft = quoted(found, withSequels(found, select(ranked, LOOKUP)), across);
  if (intent !== "who" || draft === undefined) return draft;
  tools.add("list_participants");
  const names = namesOf(found, relevant(ranked).slice(0, 10));
  return { ...draft, text: `${listed(names)} spoke of that. ${draft.text}` };
}

/** Words up to which a short answer also quotes what follows in the same turn. */
const SHORT_ANSWER = 80;

/** The picks, and where they are few words, the sentences after them of the same turn. */
function withSequels(found: Search, picks: readonly Pick[]): Pick[] {
  const chosen = new Map(picks.map((pick) => [pick.index, pick]));
  let words = picks.reduce((sum, { sentence }) => sum + sentence.length, 0);
  for (const { index, sentence, score } of [...picks].sort((a, b) => b.score - a.score)) {
    const next = found.sentences[index + 1];
    if (next?.passage !== sentence.passage || chosen.has(index + 1)) continue;
    if (!next.isQuotable || next.length < 3 || words + next.length > SHORT_ANSWER) continue;
    chosen.set(index + 1, { sentence: next, index: index + 1, score });
    words += next.length;
  }
  return [...chosen.values()].sort((a, b) => a.index - b.index);
}

/** Sentences that are nearly as good as the best one. */
function relevant(ranked: readonly Pick[]): Sentence[] {
  const floor = (ranked[0]?.score ?? 0) * SPEAKS_OF;
  return ranked.filter(({ score }) => score >= floor).map(({ sentence }) => sentence);
}

function quoted(found: Search, picks: readonly Pick[], across: boolean): Draft | undefined {
  if (picks.length === 0) return undefined;
  const sentences = picks.map(({ sentence }) => sentence);
  return { text: quoteAll(sentences, found.conversations, across), sentences };
}

function nothingFound(found: Search, across: boolean): string {
  const { question, sentences } = found;
  const where = across ? "in these conversations" : "in this conversation";
  if (sentences.length === 0)
    return across ? "I found nothing to read there." : "Nothing was said in this conversation yet.";
  if (!sentences.some(({ isQuotable }) => isQuotable)) {
    return `Hardly anything could be understood ${where}.`;
  }
  const note = languageNote(found);
  const { nothing, nothingAcross } = phrasesOf(languageOf(found));
  const absent = across ? nothingAcross : nothing;
  if (question.intent === "decisions") return `I found no decision ${where}.${note}`;
  if (question.intent === "actions") return `I found no promise or task ${where}.${note}`;
  const unclear = unclearMoments(found);
  if (unclear.length === 0) return absent + note;
  const at = listed(unclear.map((sentence) => momentOf(found, sentence, across)));
  return `${absent} What was not heard clearly ${at} may be about it.`;
}

/** Why a question may have found nothing in what is not English. */
function languageNote({ conversations }: Search): string {
  const others = conversations.map(({ language }) => language).filter((tag) => !isEnglish(tag));
  if (others.length === 0) return "";
  const languages = listed([...new Set(others)].sort());
  return ` Questions are understood in English only; of what was said in ${languages}, the question's words were searched for ${howSearched(others)}.`;
}

function howSearched(languages: readonly string[]): string {
  return languages.every((tag) => dictionaryOf(tag) !== undefined)
    ? "by their stems"
    : "as they are";
}

/** The language of all conversations; empty, for English, when they differ. */
function languageOf({ conversations }: Search): string {
  const languages = new Set(conversations.map(({ language }) => language));
  return languages.size === 1 ? ([...languages][0] ?? "") : "";
}

/** The first few positions where unclear words resemble those of the question. */
function unclearMoments({ terms, conversations, sentences }: Search): Sentence[] {
  const stemmer = new Stemmer(conversations[0]?.language ?? "");
  const asked = new Set(terms.flatMap(({ word }) => stemmer.terms(word)));
  return sentences
    .filter(({ unclear }) => stemmer.terms(unclear).some((term) => asked.has(term)))
    .slice(0, MAX_MOMENTS);
}

function momentOf(
  { conversations }: Search,
  { conversation, passage }: Sentence,
  across: boolean,
): string {
  const spoken = conversations[conversation];
  const where = across && spoken !== undefined ? `in ${conversationName(spoken)} ` : "";
  return `${where}at ${clockTime(passage.startMs / 1_000)}`;
}

/** Citations of the sentences' passages, each passage once. */
function citationsOf(found: Search, sentences: readonly Sentence[]): Answer["citations"] {
  const cited = new Map<string, Answer["citations"][number]>();
  for (const { conversation, passage } of sentences) {
    const sessionId = found.conversations[conversation]?.sessionId ?? "";
    cited.set(`${sessionId} ${passage.segmentId}`, { sessionId, segmentId: passage.segmentId });
  }
  return [...cited.values()];
}
