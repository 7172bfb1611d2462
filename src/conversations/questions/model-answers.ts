import type { RevocationFeed } from "../../access/revocations.ts";
import { concerns } from "../../access/rights-watch.ts";
import { AppError, isAppError } from "../../base/errors.ts";
import { abandoned, type FairTurns } from "../../base/work/fair-turns.ts";
import type { ModelTurn, ToolStep } from "../../wire/gen/voice/v1/retrieval.ts";
import { type LanguageModelStatus, mayGetText } from "../../wire/language-model.ts";
import type { AskableWorkspace } from "./askable.ts";
import type { Asked, QuestionAnswer } from "./by-rule.ts";
import type { ModelShareStore } from "./model-share-store.ts";
import type { WorkerRetriever } from "./worker-retriever.ts";
import { type WorkspaceToolOptions, WorkspaceTools } from "./workspace-tools.ts";

interface ModelAnswerOptions extends Omit<WorkspaceToolOptions, "inTurn" | "retriever"> {
  retriever: Pick<WorkerRetriever, "plan" | "retrieve" | "takeTurn">;
  turns: Pick<FairTurns, "run">;
  shares: ModelShareStore;
  languageModels: () => readonly LanguageModelStatus[];
  revocations: Pick<RevocationFeed, "subscribe">;
  /** How long the model may take for an answer with all of its calls, milliseconds. */
  answerMs: number;
}

/** What a model made of a question. */
interface ModelAttempt {
  /** Absent when nothing that it said could be shown. */
  answer?: QuestionAnswer;
  /** Tools that were run, in order. */
  toolsUsed: readonly string[];
}

/** Most calls of tools for one question. */
const MOST_CALLS = 8;
const LEFT_OUT = "\n(What was said in other languages than English is left out.)";

/** The model gave no turn, so that the answer by rule has to stand in. */
class NoTurn extends Error {}

/**
 * Answers questions about a workspace by a language model that looks for the answer with tools. The worker has
 * the model take its turns and compares what it says with what it cites; the tools run here, with the rights
 * of who asks.
 */
export class ModelAnswers {
  readonly #options: ModelAnswerOptions;

  constructor(options: ModelAnswerOptions) {
    this.#options = options;
  }

  /**
   * The model's answer, or what it did without one, when the answer by rule has to stand in; undefined when
   * no model may be asked. Rejects when a right of the caller ends meanwhile, and when `asked.signal` aborts.
   */
  async answer(
    { workspaceId, sessions }: AskableWorkspace,
    asked: Asked,
    tenant: string,
  ): Promise<ModelAttempt | undefined> {
    if (sessions.length === 0 || !this.#options.languageModels().some(canCall)) return undefined;
    const { mayLeave } = await this.#options.shares.read(workspaceId, tenant);
    const suits = (model: LanguageModelStatus) => canCall(model) && mayGetText(model, mayLeave);
    if (!this.#options.languageModels().some(suits)) return undefined;
    const question = { workspaceId, tenant, suits };
    return this.#whileRightsStand(asked, (limited) => this.#converse(question, asked, limited));
  }

  /** Ends the work when its time is over, and when a right of the caller has ended. */
  async #whileRightsStand(
    { principal, signal }: Asked,
    work: (limited: AbortSignal) => Promise<ModelAttempt>,
  ): Promise<ModelAttempt> {
    const ended = new AbortController();
    const unsubscribe = this.#options.revocations.subscribe((event) => {
      // What ends for a session is seen at the next call of a tool.
      if (event.kind !== "unknown" && concerns(event, { principal, follows: () => false })) {
        ended.abort();
      }
    });
    try {
      const limit = AbortSignal.timeout(this.#options.answerMs);
      const attempt = await work(AbortSignal.any([signal, limit, ended.signal]));
      if (ended.signal.aborted) throw rightsChanged();
      return attempt;
    } finally {
      unsubscribe();
    }
  }

  async #converse(question: Question, asked: Asked, signal: AbortSignal): Promise<ModelAttempt> {
    const { turns } = this.#options;
    const inTurn = <T>(work: () => Promise<T>) => turns.run(question.tenant, work, signal);
    const tools = new WorkspaceTools({ ...this.#options, inTurn }, question.workspaceId, {
      ...asked,
      signal,
    });
    try {
      const turn = await this.#callTools(question, asked.query, tools, signal);
      const answer = await toAnswer(turn, tools);
      return { toolsUsed: tools.used, ...(answer && { answer }) };
    } catch (error) {
      if (asked.signal.aborted) throw abandoned();
      // Its time is over, or it is away; what the caller may not do any more is refused.
      if (!(error instanceof NoTurn) && !signal.aborted) throw error;
      return { toolsUsed: tools.used };
    }
  }

  /** Has the model call tools until it answers, which it has to after the last call. */
  async #callTools(
    question: Question,
    query: string,
    tools: WorkspaceTools,
    signal: AbortSignal,
  ): Promise<ModelTurn> {
    const steps: ToolStep[] = [];
    for (;;) {
      const mustAnswer = steps.length >= MOST_CALLS;
      const turn = await this.#takeTurn(question, { query, tools, steps, mustAnswer }, signal);
      if (turn.calls.length === 0 || mustAnswer) return turn;
      for (const call of turn.calls.slice(0, MOST_CALLS - steps.length)) {
        signal.throwIfAborted();
        steps.push(await tools.run(call));
      }
    }
  }

  async #takeTurn(
    { workspaceId, tenant, suits }: Question,
    { query, tools, steps, mustAnswer }: Conversation,
    signal: AbortSignal,
  ): Promise<ModelTurn> {
    const { shares, retriever, clock, answerMs } = this.#options;
    // Leave and budget as they are now.
    const model = await shares.read(workspaceId, tenant);
    const asked = { query, nowMs: clock.now(), model, steps, mustAnswer };
    const request = { ...asked, tools: tools.definitions };
    let turn: ModelTurn;
    try {
      turn = await retriever.takeTurn(request, suits, { deadlineMs: answerMs, signal });
    } catch (error) {
      if (isAppError(error)) throw new NoTurn(error.message, { cause: error });
      throw error;
    }
    if (turn.work !== undefined) await shares.count(tenant, turn.work.tokens);
    return turn;
  }
}

interface Question {
  workspaceId: string;
  tenant: string;
  /** Whether a model may be given the workspace's text. */
  suits(model: LanguageModelStatus): boolean;
}

interface Conversation {
  query: string;
  tools: WorkspaceTools;
  steps: ToolStep[];
  mustAnswer: boolean;
}

function canCall({ answers, abilities }: LanguageModelStatus): boolean {
  return answers && abilities.includes("tools");
}

/** The sentences of which everything that they cite can still be read as it was shown. */
async function toAnswer(
  { sentences, work }: ModelTurn,
  tools: WorkspaceTools,
): Promise<QuestionAnswer | undefined> {
  if (sentences.length === 0) return undefined;
  const ids = [...new Set(sentences.flatMap(({ segmentIds }) => segmentIds))];
  const readable = await tools.stillReadable(ids);
  const kept = sentences.filter(
    ({ segmentIds }) => segmentIds.length > 0 && segmentIds.every((id) => readable.has(id)),
  );
  if (kept.length === 0) return undefined;
  const cited = new Set(kept.flatMap(({ segmentIds }) => segmentIds));
  return {
    text: kept.map(({ text }) => text).join(" ") + (tools.leftOut ? LEFT_OUT : ""),
    toolsUsed: tools.used,
    citations: [...cited].flatMap((id) => readable.get(id) ?? []),
    model: work?.name,
  };
}

function rightsChanged(): AppError {
  return new AppError(
    "unavailable",
    "Your rights were changed while the question was being answered. Ask it again.",
    { retryAfter: 1 },
  );
}
