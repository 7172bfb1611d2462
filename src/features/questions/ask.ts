import { maySession, mayWorkspace, type SessionFacts } from "../../access/policy.ts";
import type { Principal } from "../../access/principal.ts";
import type { Clock } from "../../base/clock.ts";
import { AppError, unknownThing } from "../../base/errors.ts";
import { isId } from "../../base/ids.ts";
import type { FairTurns } from "../../base/work/fair-turns.ts";
import type { Tenants } from "../../postgres/tenants.ts";
import { requirePrincipal } from "../../rest/callers.ts";
import { recordElevatedRead } from "../sessions/access.ts";
import type { SessionStore } from "../sessions/store.ts";
import type { WorkspaceStore } from "../workspaces/store.ts";
import type {
  ConversationStore,
  SpokenConversation,
  SpokenPassage,
} from "./conversations-store.ts";
import type { SearchStore } from "./search-store.ts";
import type { RetrievedAnswer, WorkerRetriever } from "./worker-retriever.ts";

/** Most characters of a question. */
export const MAX_QUESTION = 2_000;
/** Most passages that one answer is made from; that is more than a day of speech. */
export const MAX_PASSAGES = 20_000;
/** Most conversations that one answer about a workspace is made from. */
const MAX_READ = 40;
/** Up to this many sessions, a workspace is read as a whole. */
const FEW = 5;

interface CitedPassage extends SpokenPassage {
  sessionId: string;
  /** The name of the person who claimed the label; empty without a claim. */
  speakerName: string;
}

export interface QuestionAnswer {
  text: string;
  toolsUsed: string[];
  citations: CitedPassage[];
}

export interface QuestionOptions extends WorkspaceQuestionOptions {
  /** Questions are answered for tenants in turn; each holds many passages in memory. */
  turns: Pick<FairTurns, "run">;
  tenants: Tenants;
  conversations: ConversationStore;
  retriever: Pick<WorkerRetriever, "plan" | "retrieve">;
  clock: Clock;
}

interface Asked {
  query: string;
  principal: Principal;
  signal: AbortSignal;
}

/** Answers a question from one session. The caller must have the right to ask about it. */
export async function askSession(
  options: QuestionOptions,
  sessionId: string,
  asked: Asked,
): Promise<QuestionAnswer> {
  const tenant = await options.tenants.ofSession(sessionId);
  return options.turns.run(
    tenant,
    () => answerFromSession(options, sessionId, asked),
    asked.signal,
  );
}

async function answerFromSession(
  { conversations, retriever, clock }: QuestionOptions,
  sessionId: string,
  { query, principal, signal }: Asked,
): Promise<QuestionAnswer> {
  const read = await conversations.read([sessionId], MAX_PASSAGES);
  const question = { query, now: clock.now(), askerId: principal.id, across: false };
  const answer = await retriever.retrieve({ ...question, conversations: read }, signal);
  return { ...answer, citations: resolve(answer, read) };
}

/**
 * Answers a question from the sessions of a workspace: plans the search, chooses sessions and
 * answers from their words. `toolsUsed` names the steps that were taken.
 */
export async function askWorkspace(
  options: QuestionOptions,
  workspace: AskableWorkspace,
  asked: Asked,
): Promise<QuestionAnswer> {
  const tenant = await options.tenants.ofWorkspace(workspace.workspaceId);
  const answer = () => answerFromWorkspace(options, workspace, asked);
  return options.turns.run(tenant, answer, asked.signal);
}

async function answerFromWorkspace(
  options: QuestionOptions,
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
  { conversations }: QuestionOptions,
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

/** Most sessions that one question or search considers; the newest are taken. */
const MAX_SESSIONS = 5_000;
const ACTION = "session.query";

export interface WorkspaceQuestionOptions {
  directory: Pick<SessionStore, "recordContentRead">;
  workspaces: Pick<WorkspaceStore, "find" | "role">;
  workspaceSessions: SearchStore;
}

/** Sessions that the caller may ask about, newest first. */
export interface AskableSessions {
  principal: Principal;
  sessions: readonly SessionFacts[];
}

export interface AskableWorkspace extends AskableSessions {
  workspaceId: string;
}

/** All sessions that the person may ask about, in whatever workspace; those an elevation covers too. */
export async function askableSessions(
  { workspaceSessions }: Pick<WorkspaceQuestionOptions, "workspaceSessions">,
  caller: Principal | undefined,
): Promise<AskableSessions> {
  const principal = requirePrincipal(caller);
  if (principal.kind !== "user") throw new AppError("forbidden", "Only people search everywhere.");
  const all = await workspaceSessions.factsOf(principal, MAX_SESSIONS);
  const sessions = all.filter((each) => maySession(principal, ACTION, each) === "allow");
  return { principal, sessions };
}

/**
 * Returns the workspace with the sessions that the caller may ask about. Throws 404 for an unknown
 * workspace and `forbidden` without a relation to it. An administrator who is no member gets the
 * sessions that an elevation covers; throws `elevation_required` when none does.
 */
export async function requireAskableWorkspace(
  { workspaces, workspaceSessions }: WorkspaceQuestionOptions,
  caller: Principal | undefined,
  workspaceId: string,
): Promise<AskableWorkspace> {
  const principal = requirePrincipal(caller);
  const workspace = isId(workspaceId) ? await workspaces.find(workspaceId) : undefined;
  if (workspace === undefined) throw unknownThing("workspace", workspaceId);
  const isUser = principal.kind === "user";
  const role = isUser ? await workspaces.role(workspaceId, principal.id) : undefined;
  const facts = { kind: "workspace", id: workspaceId, role } as const;
  const verdict = mayWorkspace(principal, "workspace.query", facts);
  if (verdict === "not_found") throw unknownThing("workspace", workspaceId);
  if (verdict !== "allow" && verdict !== "elevation_required") {
    throw new AppError("forbidden", "You may not ask about this workspace.");
  }
  const all = await workspaceSessions.factsIn(principal, workspaceId, MAX_SESSIONS);
  const sessions = all.filter((each) => maySession(principal, ACTION, each) === "allow");
  if (verdict === "elevation_required" && sessions.length === 0) {
    throw new AppError(
      "elevation_required",
      "What is said in this workspace is closed to administrators without an elevation. Ask for one with a reason at POST /api/admin/content-elevate.",
    );
  }
  return { principal, workspaceId, sessions };
}

/** Records reads that an elevation allowed. Must succeed before the content is shown. */
export async function recordReads(
  { directory }: Pick<WorkspaceQuestionOptions, "directory">,
  { principal, sessions }: AskableSessions,
  sessionIds: readonly string[],
): Promise<void> {
  const read = new Set(sessionIds);
  for (const facts of sessions) {
    if (read.has(facts.id)) await recordElevatedRead(directory, principal, ACTION, facts);
  }
}
