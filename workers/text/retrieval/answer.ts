import { clockTime } from "../../../src/base/clock-time.ts";
import type { Answer, RetrieveRequest } from "../../../src/wire/gen/voice/v1/retrieval.ts";
import { conversationName, listed, quoteAll } from "./compose.ts";
import type { Sentence } from "./document.ts";
import { rankCentral, rankCues } from "./overview.ts";
import { coverage, ENOUGH } from "./relevance.ts";
import { type Search, search } from "./search.ts";
import { type Pick, rankSentences, type SelectLimits, select } from "./select.ts";
import type { Steps } from "./steps.ts";
import {
  countMentions,
  type Draft,
  describeVoices,
  listConversations,
  namesOf,
} from "./tallies.ts";
import { Stemmer } from "./words.ts";

/** Moments of unclear words that an answer names at most. */
const MAX_MOMENTS = 3;
const LOOKUP: SelectLimits = { sentences: 5, words: 90, floor: 0.4 };
/** Share of the best score from which a sentence counts as speaking of the topic. */
const SPEAKS_OF = 0.6;
const OVERVIEW: SelectLimits = { sentences: 5, words: 120, floor: 0 };
const CUES: SelectLimits = { sentences: 8, words: 200, floor: 0 };

/** Answers from the conversations by quoting them; deterministic, and nothing is kept. */
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
  const { intent } = found.question;
  if (intent === "voices") {
    tools.add("speaker_statistics");
    return describeVoices(found);
  }
  if (intent === "decisions" || intent === "actions") {
    tools.add(intent === "decisions" ? "decision_cues" : "commitment_cues");
    return quoted(found, select(rankCues(found, intent), CUES), across);
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
  if (coverage(found) < ENOUGH) return undefined;
  const ranked = rankSentences(found);
  if (intent === "sessions" && across) {
    tools.add("list_sessions");
    return listConversations(found, relevant(ranked));
  }
  const draft = quoted(found, select(ranked, LOOKUP), across);
  if (intent !== "who" || draft === undefined) return draft;
  tools.add("list_participants");
  const names = namesOf(found, relevant(ranked).slice(0, 10));
  return { ...draft, text: `${listed(names)} spoke of that. ${draft.text}` };
}

/** Sentences that are nearly as good as the best. */
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
  if (question.intent === "decisions") return `I found no decision ${where}.`;
  if (question.intent === "actions") return `I found no promise or task ${where}.`;
  const unclear = unclearMoments(found);
  if (unclear.length === 0) return `I found nothing about that ${where}.`;
  const at = listed(unclear.map((sentence) => momentOf(found, sentence, across)));
  return `I found nothing about that ${where}. What was not heard clearly ${at} may be about it.`;
}

/** Where unclear words are like those asked for, the first few. */
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

/** Each passage once. */
function citationsOf(found: Search, sentences: readonly Sentence[]): Answer["citations"] {
  const cited = new Map<string, Answer["citations"][number]>();
  for (const { conversation, passage } of sentences) {
    const sessionId = found.conversations[conversation]?.sessionId ?? "";
    cited.set(`${sessionId} ${passage.segmentId}`, { sessionId, segmentId: passage.segmentId });
  }
  return [...cited.values()];
}
