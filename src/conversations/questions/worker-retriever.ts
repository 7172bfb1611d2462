import { AppError } from "../../base/errors.ts";
import { WorkerCalls, type WorkerCallsOptions } from "../../inference/worker-calls.ts";
import type { StreamingMethod } from "../../inference/worker-client.ts";
import type {
  Answer,
  Conversation,
  ModelTurn,
  ModelTurnRequest,
  RetrieveResponse,
  Understanding,
} from "../../wire/gen/voice/v1/retrieval.ts";
import { RetrievalServiceService } from "../../wire/gen/voice/v1/worker_services.ts";
import type { LanguageModelStatus } from "../../wire/language-model.ts";
import type { SpokenConversation } from "./conversations-store.ts";

const PLAN_MS = 3_000;
const RETRIEVE_MS = 15_000;

/**
 * Sends questions to the least busy worker, and to another one when that is lost or busy. Answers
 * come from the given conversations only; nothing is stored. Rejects as `WorkerCalls` does.
 */
export class WorkerRetriever {
  readonly #calls: WorkerCalls;

  constructor(options: WorkerCallsOptions) {
    this.#calls = new WorkerCalls(options);
  }

  async plan(query: string, now: number, signal: AbortSignal): Promise<QuestionPlan> {
    let told: Understanding | undefined;
    const request = { query, nowMs: now };
    const onMessage = (message: Understanding): void => {
      told = message;
    };
    await this.#ask(RetrievalServiceService.understand, request, onMessage, PLAN_MS, signal);
    if (told === undefined) throw silent();
    const { terms, fromMs, toMs } = told;
    return { words: terms, days: toMs === 0 ? undefined : { from: fromMs, to: toMs } };
  }

  async retrieve(question: RetrieveQuestion, signal: AbortSignal): Promise<RetrievedAnswer> {
    let answer: Answer | undefined;
    const { query, now, across, askerId } = question;
    const conversations = question.conversations.map((each) => toMessage(each, askerId));
    const request = { query, nowMs: now, across, conversations };
    const onMessage = ({ message }: RetrieveResponse): void => {
      if (message?.$case === "answer") answer = message.value;
    };
    await this.#ask(RetrievalServiceService.retrieve, request, onMessage, RETRIEVE_MS, signal);
    if (answer === undefined) throw silent();
    return answer;
  }

  /** Has a language model that suits take one turn at a question; its worker is the least busy one. */
  async takeTurn(
    request: ModelTurnRequest,
    suits: (model: LanguageModelStatus) => boolean,
    { deadlineMs, signal }: { deadlineMs: number; signal: AbortSignal },
  ): Promise<ModelTurn> {
    let turn: ModelTurn | undefined;
    const onMessage = (message: ModelTurn): void => {
      turn = message;
    };
    const method = RetrievalServiceService.takeTurn;
    await this.#ask(method, request, onMessage, deadlineMs, signal, suits);
    if (turn === undefined) throw silent();
    return turn;
  }

  #ask<Q, A>(
    method: StreamingMethod<Q, A>,
    request: Q,
    onMessage: (message: A) => void,
    deadlineMs: number,
    signal: AbortSignal,
    suits?: (model: LanguageModelStatus) => boolean,
  ): Promise<void> {
    const purpose = "answer questions";
    return this.#calls.call(method, request, { deadlineMs, signal, onMessage, purpose, suits });
  }
}

function toMessage(conversation: SpokenConversation, askerId: string): Conversation {
  const voices = conversation.voices.map(({ label, name, claimedUserId }) => {
    return { label, name, isAsker: claimedUserId === askerId };
  });
  return { ...conversation, voices };
}

function silent(): AppError {
  return new AppError("unavailable", "The worker ended before the answer was there.");
}

/** The parts of a question that tell where to search. */
interface QuestionPlan {
  /** Words worth searching for. */
  words: string[];
  /** The time span of the conversations, Unix milliseconds. */
  days?: { from: number; to: number } | undefined;
}

interface RetrieveQuestion {
  query: string;
  /** Unix milliseconds. */
  now: number;
  /** The id of the user who asks, for questions like "what did I say". */
  askerId: string;
  /** True when the question is about several conversations. */
  across: boolean;
  conversations: readonly SpokenConversation[];
}

export interface RetrievedAnswer {
  text: string;
  /** Tools in the order of their use. */
  toolsUsed: string[];
  citations: { sessionId: string; segmentId: string }[];
}
