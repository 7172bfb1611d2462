import type { Principal } from "../../access/principal.ts";
import type { Clock } from "../../base/clock.ts";
import type {
  ConversationReader,
  SpokenConversation,
  SpokenPassage,
} from "./conversation-reader.ts";
import type { RetrievedAnswer, Retriever } from "./retriever.ts";
import {
  type AskableWorkspace,
  recordReads,
  type WorkspaceQuestionPorts,
} from "./workspace-questions.ts";

/** Characters of a question at most. */
export const MAX_QUESTION = 2_000;
/** Passages that one answer is made from at most: days of speech. */
const MAX_PASSAGES = 30_000;
/** Conversations that one answer about a workspace is made from at most. */
const MAX_READ = 40;
/** A workspace this small is read as a whole. */
const FEW = 5;

interface CitedPassage extends SpokenPassage {
  sessionId: string;
  /** Of the person who claimed the label; empty when nobody did. */
  speakerName: string;
}

export interface QuestionAnswer {
  text: string;
  toolsUsed: string[];
  citations: CitedPassage[];
}

export interface QuestionPorts extends WorkspaceQuestionPorts {
  conversations: ConversationReader;
  retriever: Retriever;
  clock: Clock;
}

interface Asked {
  query: string;
  principal: Principal;
  signal: AbortSignal;
}

/** Answers from one session, which the caller may ask about. */
export async function askSession(
  { conversations, retriever, clock }: QuestionPorts,
  sessionId: string,
  { query, principal, signal }: Asked,
): Promise<QuestionAnswer> {
  const read = await conversations.read([sessionId], MAX_PASSAGES);
  const question = { query, now: clock.now(), askerId: principal.id, across: false };
  const answer = await retriever.retrieve({ ...question, conversations: read }, signal);
  return { ...answer, citations: resolve(answer, read) };
}

/**
 * Answers from the sessions of a workspace that the caller may ask about, in steps: what is asked,
 * which sessions speak of it, what they say. The steps that were taken stand in `toolsUsed`.
 */
export async function askWorkspace(
  ports: QuestionPorts,
  workspace: AskableWorkspace,
  { query, principal, signal }: Asked,
): Promise<QuestionAnswer> {
  const { conversations, retriever, clock } = ports;
  const now = clock.now();
  const plan = await retriever.plan(query, now, signal);
  const tools = ["question_planner"];
  let ids = workspace.sessions.map(({ id }) => id);
  if (plan.days !== undefined) {
    tools.push("date_filter");
    ids = await conversations.startedWithin(ids, plan.days.from, plan.days.to);
  }
  const chosen = await choose(ports, ids, plan.words, tools);
  await recordReads(ports, workspace, chosen.ids);
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
  /** Said with the answer when it does not rest on everything there is. */
  remark: string;
}

/** The sessions to read: all of a few; else those in which the words were said; else the newest. */
async function choose(
  { conversations }: QuestionPorts,
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
    // A word that was heard wrong everywhere is looked for in the newest, by likeness.
    if (found.length > 0) return { ids: found, remark };
  }
  tools.push("list_sessions");
  return { ids: ids.slice(0, FEW), remark: remarkOf(FEW, ids.length, "that are newest") };
}

function remarkOf(read: number, all: number, which: string): string {
  return `\n(This rests on the ${read} of ${all} conversations ${which}.)`;
}

/** Cited passages as they were read, in the order of the answer. */
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
