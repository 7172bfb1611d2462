import type { Principal } from "../../access/principal.ts";
import type { Clock } from "../../base/clock.ts";
import { type AskableWorkspace, recordReads, type WorkspaceQuestionOptions } from "./askable.ts";
import type {
  ConversationStore,
  SpokenConversation,
  SpokenPassage,
} from "./conversations-store.ts";
import type { RetrievedAnswer, WorkerRetriever } from "./worker-retriever.ts";

/** Most passages that one answer is made from; that is more than a day of speech. */
export const MAX_PASSAGES = 20_000;
/** Most conversations that one answer about a workspace is made from. */
const MAX_READ = 40;
/** Up to this many sessions, a workspace is read as a whole. */
const FEW = 5;

export interface CitedPassage extends SpokenPassage {
  sessionId: string;
  /** The name of the person who claimed the label; empty without a claim. */
  speakerName: string;
}

export interface QuestionAnswer {
  text: string;
  toolsUsed: string[];
  citations: CitedPassage[];
  /** The language model whose sentences these are; absent where the answer is by rule. */
  model?: string | undefined;
}

export interface RuleOptions extends Pick<WorkspaceQuestionOptions, "directory"> {
  conversations: ConversationStore;
  retriever: Pick<WorkerRetriever, "plan" | "retrieve">;
  clock: Clock;
}

export interface Asked {
  query: string;
  principal: Principal;
  signal: AbortSignal;
}

/** Answers from the words of one session. */
export async function answerFromSession(
  { conversations, retriever, clock }: RuleOptions,
  sessionId: string,
  { query, principal, signal }: Asked,
): Promise<QuestionAnswer> {
  const read = await conversations.read([sessionId], MAX_PASSAGES);
  const question = { query, now: clock.now(), askerId: principal.id, across: false };
  const answer = await retriever.retrieve({ ...question, conversations: read }, signal);
  return { ...answer, citations: resolve(answer, read) };
}

/**
 * Answers from the sessions of a workspace: plans the search, chooses sessions and answers from their
 * words. `toolsUsed` names the steps that were taken.
 */
export async function answerFromWorkspace(
  options: RuleOptions,
  workspace: AskableWorkspace,
  { query, principal, signal }: Asked,
): Promise<QuestionAnswer> {
  const { conversations, retriever, clock } = options;
  const now = clock.now();
  const plan = await retriever.plan(query, now, signal);
  const tools = ["question_planner"];
  let ids = workspace.sessions.map(({ id }) => id);
  if (plan.days !== undefined) {
    tools.push("date_filter");
    ids = await conversations.startedWithin(ids, plan.days.from, plan.days.to);
  }
  const chosen = await choose(options, ids, plan.words, tools);
  await recordReads(options, workspace, chosen.ids);
  const read = await conversations.read(chosen.ids, MAX_PASSAGES);
  const question = { query, now, askerId: principal.id, across: true, conversations: read };
  const answer = await retriever.retrieve(question, signal);
  return {
    text: answer.text + chosen.remark,
    toolsUsed: [...tools, ...answer.toolsUsed],
    citations: resolve(answer, read),
  };
}

interface Chosen {
  ids: string[];
  /** Added to the answer when not all sessions were read. */
  remark: string;
}

/**
 * Chooses the sessions to read: all of a few, else those in which the words were said, else the
 * newest.
 */
async function choose(
  { conversations }: RuleOptions,
  ids: readonly string[],
  words: readonly string[],
  tools: string[],
): Promise<Chosen> {
  if (ids.length <= FEW) {
    tools.push("list_sessions");
    return { ids: [...ids], remark: "" };
  }
  if (words.length > 0) {
    tools.push("full_text_search");
    const found = await conversations.findSessions(ids, words, MAX_READ);
    const remark = found.length < MAX_READ ? "" : remarkOf(MAX_READ, ids.length, "that fit best");
    // When nothing is found, the words may have been misrecognised everywhere; then the newest
    // sessions are read, where similar words count too.
    if (found.length > 0) return { ids: found, remark };
  }
  tools.push("list_sessions");
  return { ids: ids.slice(0, FEW), remark: remarkOf(FEW, ids.length, "that are newest") };
}

function remarkOf(read: number, all: number, which: string): string {
  return `\n(This rests on the ${read} of ${all} conversations ${which}.)`;
}

/** Cited passages with their text, in the order of the answer. */
function resolve(
  answer: RetrievedAnswer,
  conversations: readonly SpokenConversation[],
): CitedPassage[] {
  const byId = new Map(conversations.map((each) => [each.sessionId, each]));
  return answer.citations.flatMap(({ sessionId, segmentId }) => {
    const conversation = byId.get(sessionId);
    const passage = conversation?.passages.find((each) => each.segmentId === segmentId);
    if (conversation === undefined || passage === undefined) return [];
    const voice = conversation.voices.find(({ label }) => label === passage.label);
    return [{ ...passage, sessionId, speakerName: voice?.name ?? "" }];
  });
}
