import { delay } from "../../base/deferred.ts";
import { AppError, toAppError } from "../../base/errors.ts";
import type { Placement } from "../../inference/placement.ts";
import type { StreamingMethod, WorkerClient } from "../../inference/worker-client.ts";
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
const ATTEMPTS = 5;
/** First wait for a busy worker, milliseconds; grows with each attempt. */
const BUSY_MS = 150;
/**
 * How long a question waits for a worker that nobody hears of: one that starts again, or whose
 * announcements are late on a busy machine. Milliseconds.
 */
const ABSENT_MS = 3_000;
const POLL_MS = 100;

interface PlacedRetrieverOptions {
  placement: Placement;
  client: WorkerClient;
  /** The workers' service key, when they have one. */
  key: string | undefined;
  /** How long a question waits for a worker when none is heard of, milliseconds. */
  absentMs?: number;
}

/**
 * Sends questions to the least busy worker, and to another one when that is lost or busy. Answers
 * come from the given conversations only; nothing is stored. Rejects with `unavailable` when no
 * worker is running, `overloaded` or `timeout`, always within a few seconds, and when `signal`
 * aborts.
 */
export class WorkerRetriever {
  readonly #placement: Placement;
  readonly #client: WorkerClient;
  readonly #key: string | undefined;
  readonly #absentMs: number;

  constructor({ placement, client, key, absentMs = ABSENT_MS }: PlacedRetrieverOptions) {
    this.#placement = placement;
    this.#client = client;
    this.#key = key;
    this.#absentMs = absentMs;
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

  async #ask<Q, A>(
    method: StreamingMethod<Q, A>,
    request: Q,
    onMessage: (message: A) => void,
    deadlineMs: number,
    signal: AbortSignal,
    suits?: (model: LanguageModelStatus) => boolean,
  ): Promise<void> {
    const settings = { key: this.#key, deadlineMs, signal, onMessage };
    const pickedBy = performance.now() + this.#absentMs;
    for (let attempt = 1; ; attempt += 1) {
      const address = await this.#pick(pickedBy, signal, suits);
      try {
        await this.#client.stream(address, method, request, settings);
        return;
      } catch (cause) {
        const error = toAppError(cause);
        if (signal.aborted || attempt === ATTEMPTS || !isWorkers(error)) throw error;
        if (error.code === "unavailable") this.#placement.failed(address);
        else await delay(BUSY_MS * attempt * (0.5 + Math.random()), signal);
      }
    }
  }

  async #pick(
    pickedBy: number,
    signal: AbortSignal,
    suits?: (model: LanguageModelStatus) => boolean,
  ): Promise<string> {
    for (;;) {
      const address = this.#placement.pickForText(
        suits && (({ language_model: model }) => model !== undefined && suits(model)),
      );
      if (address !== undefined) return address;
      if (signal.aborted || performance.now() >= pickedBy) break;
      await delay(POLL_MS, signal);
    }
    throw new AppError("unavailable", "No worker is running that could answer questions.", {
      retryAfter: 5,
    });
  }
}

/** True for failures of a worker. Asking changes nothing, so it may be repeated at another one. */
function isWorkers({ code }: AppError): boolean {
  return code === "unavailable" || code === "overloaded";
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
