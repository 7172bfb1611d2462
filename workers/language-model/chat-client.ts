import OpenAI, { APIError } from "openai";
import type { ChatCompletionMessageParam } from "openai/resources/chat/completions";
import { type BackOffWaits, backOff } from "../../src/base/back-off.ts";
import { delay } from "../../src/base/deferred.ts";
import { errorMessage } from "../../src/base/errors.ts";
import { modelFetch } from "./model-fetch.ts";
import type { ModelSettings } from "./model-settings.ts";

/** A JSON schema to which an answer shall keep. */
export interface AnswerSchema {
  name: string;
  schema: Record<string, unknown>;
}

/** A function that the model may call. */
export interface ChatTool {
  name: string;
  description: string;
  parameters: Record<string, unknown>;
}

/** A call that the model made before, and what came of it. */
interface ChatStep {
  call: { name: string; arguments: string };
  result: string;
}

export interface ChatRequest {
  system: string;
  user: string;
  /** What the model has called since, in order. */
  steps?: readonly ChatStep[];
  /** Most tokens of the answer. */
  answerTokens: number;
  schema?: AnswerSchema;
  tools?: readonly ChatTool[];
  /** True when it is to answer, and to call no more tools. */
  mustAnswer?: boolean;
}

export interface ChatAnswer {
  /** Without what the model thought aloud; empty when it only called tools. */
  text: string;
  /** Names and arguments, as JSON, of the tools that it called. */
  calls: readonly { name: string; arguments: string }[];
  /** False when it was cut off by its length. */
  isWhole: boolean;
  /** As the server counts them, else estimated. */
  tokens: { read: number; written: number };
}

/** Why there is no answer. */
export type ModelFault =
  /** No connection, no answer in time, one that is none, or too many requests. */
  | "away"
  /** The key or the model is refused: only the operator can change that. */
  | "refused"
  /** This request is refused as it is. */
  | "rejected";

/** Thrown instead of an answer; the message is a sentence for operators and holds no content. */
export class ModelError extends Error {
  readonly fault: ModelFault;

  constructor(fault: ModelFault, message: string) {
    super(message);
    this.fault = fault;
  }
}

/** Characters of a token, few enough that a text is never longer than estimated. */
const TOKEN_CHARACTERS = 3;

/** Estimated tokens of a text, rather too many than too few. */
export function estimateTokens(text: string): number {
  return Math.ceil(text.length / TOKEN_CHARACTERS);
}

/** The same of a whole request with its answer. */
export function estimateRequest({ system, user, steps, tools, answerTokens }: ChatRequest): number {
  const more = steps === undefined && tools === undefined ? "" : JSON.stringify([steps, tools]);
  return answerTokens + estimateTokens(system + user + more);
}

const RETRIES = 2;
const WAITS = { firstMs: 500, mostMs: 8_000, spreadMs: 250 };
const WORTH_A_RETRY = new Set([408, 409, 425, 429, 500, 502, 503, 504]);
/** Refusals of a request as it is; it may be taken without its schema or tools. */
const REJECTED = new Set([400, 413, 415, 422, 501]);
const CHECK_MS = 10_000;

/** A failure after which the same request may succeed, with the server's word on when. */
class TryAgain extends Error {
  readonly afterMs: number | undefined;

  constructor(message: string, afterMs?: number) {
    super(message);
    this.afterMs = afterMs;
  }
}

/**
 * Asks a server with OpenAI's `/v1/chat/completions`, as Ollama, vLLM, llama.cpp and others have it.
 * A request has one time limit for all its tries, of which there are three at most; Retry-After is
 * heeded within it. Answers are bounded and redirects are not followed, so that neither the text nor
 * the key goes anywhere else.
 */
export class ChatClient {
  readonly #settings: ModelSettings;
  readonly #openai: OpenAI;
  readonly #waits: BackOffWaits;

  /** @param waits between tries, where the server tells none */
  constructor(settings: ModelSettings, waits: BackOffWaits = WAITS) {
    this.#settings = settings;
    this.#waits = waits;
    this.#openai = new OpenAI({
      baseURL: settings.baseUrl,
      // The package wants a key; servers without one pass over it.
      apiKey: settings.key ?? "none",
      // Nothing else is taken from the environment.
      organization: null,
      project: null,
      // It would wait as long as a server tells it to, deaf to our signal: the tries are counted here.
      maxRetries: 0,
      timeout: settings.timeoutMs,
      logLevel: "off",
      fetch: modelFetch,
    });
  }

  /** Rejects with ModelError, or with `signal.reason` when that aborts. */
  async chat(request: ChatRequest, signal: AbortSignal): Promise<ChatAnswer> {
    const until = performance.now() + this.#settings.timeoutMs;
    const limit = AbortSignal.timeout(this.#settings.timeoutMs);
    for (let failures = 0; ; ) {
      try {
        return await this.#once(request, AbortSignal.any([signal, limit]));
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof ModelError) throw error;
        failures += 1;
        const told = error instanceof TryAgain ? error.afterMs : undefined;
        const wait = told ?? backOff(failures, this.#waits, Math.random);
        if (failures > RETRIES || limit.aborted || performance.now() + wait >= until) {
          throw new ModelError("away", `The language model does not answer: ${reasonOf(error)}.`);
        }
        await delay(wait, signal);
      }
    }
  }

  /** Whether the server answers at all and takes our key; rejects with ModelError. */
  async check(signal: AbortSignal): Promise<void> {
    try {
      const limit = AbortSignal.timeout(CHECK_MS);
      await this.#openai.get("/models", { signal: AbortSignal.any([signal, limit]) });
    } catch (error) {
      const status = error instanceof APIError ? error.status : undefined;
      // A server without a list of its models answers all the same.
      if (status === 404 || status === 405) return;
      const failure = this.#failure(error);
      if (failure instanceof ModelError) throw failure;
      throw new ModelError("away", `The language model does not answer: ${reasonOf(error)}.`);
    }
  }

  async #once(request: ChatRequest, signal: AbortSignal): Promise<ChatAnswer> {
    try {
      const answer: unknown = await this.#openai.chat.completions.create(this.#body(request), {
        signal,
      });
      return readAnswer(answer, request);
    } catch (error) {
      throw this.#failure(error);
    }
  }

  #body({ answerTokens, schema, tools, mustAnswer, ...asked }: ChatRequest) {
    return {
      model: this.#settings.model,
      messages: messagesOf({ ...asked, mustAnswer: mustAnswer === true }),
      max_tokens: answerTokens,
      temperature: 0,
      seed: 1,
      ...(schema && {
        response_format: {
          type: "json_schema" as const,
          json_schema: { ...schema, strict: true },
        },
      }),
      ...(tools && {
        tools: tools.map((each) => ({ type: "function" as const, function: { ...each } })),
        tool_choice: mustAnswer ? ("none" as const) : ("auto" as const),
      }),
    };
  }

  #failure(error: unknown): unknown {
    if (!(error instanceof APIError) || error.status === undefined) return error;
    const status: number = error.status;
    const { model } = this.#settings;
    if (WORTH_A_RETRY.has(status)) {
      return new TryAgain(`its server answers ${status}`, afterOf(error.headers));
    }
    if (REJECTED.has(status)) {
      return new ModelError(
        "rejected",
        `The language model's server refuses the request: ${status}.`,
      );
    }
    const isKey = status === 401 || status === 403;
    const why = isKey ? "its server refuses our key" : `its server answers ${status} for ${model}`;
    return new ModelError("refused", `The language model cannot be used: ${why}.`);
  }
}

const ANSWER_NOW = "Call no more tools. Answer now from what you have read.";

/** One call of a tool a message: servers differ in what they make of several. */
function messagesOf({
  system,
  user,
  steps = [],
  mustAnswer,
}: Pick<ChatRequest, "system" | "user" | "steps" | "mustAnswer">): ChatCompletionMessageParam[] {
  return [
    { role: "system", content: system },
    { role: "user", content: user },
    ...steps.flatMap(({ call, result }, at): ChatCompletionMessageParam[] => {
      const id = `call_${at + 1}`;
      const called = { id, type: "function" as const, function: call };
      return [
        { role: "assistant", content: "", tool_calls: [called] },
        { role: "tool", tool_call_id: id, content: result },
      ];
    }),
    // Some servers pass over `tool_choice`.
    ...(mustAnswer ? [{ role: "user" as const, content: ANSWER_NOW }] : []),
  ];
}

/** Takes the answer apart, of which nothing is sure. */
function readAnswer(value: unknown, request: ChatRequest): ChatAnswer {
  const { choices, usage } = (value ?? {}) as { choices?: unknown; usage?: unknown };
  const [choice] = Array.isArray(choices) ? (choices as unknown[]) : [];
  const { message, finish_reason: ending } = (choice ?? {}) as Record<string, unknown>;
  if (typeof message !== "object" || message === null) throw new TryAgain("its answer is none");
  const { content, tool_calls: called } = message as Record<string, unknown>;
  const text = typeof content === "string" ? withoutThoughts(content) : "";
  const told = (usage ?? {}) as { prompt_tokens?: unknown; completion_tokens?: unknown };
  return {
    text,
    calls: callsOf(called),
    isWhole: ending !== "length",
    tokens: {
      read: count(told.prompt_tokens) ?? estimateRequest({ ...request, answerTokens: 0 }),
      written: count(told.completion_tokens) ?? estimateTokens(text),
    },
  };
}

function withoutThoughts(text: string): string {
  return text.replace(/^\s*<think>[\s\S]*?<\/think>/u, "").trim();
}

function callsOf(value: unknown): ChatAnswer["calls"] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((each: unknown) => {
    const { function: called } = (each ?? {}) as { function?: unknown };
    const { name, arguments: given } = (called ?? {}) as Record<string, unknown>;
    return typeof name === "string" && typeof given === "string"
      ? [{ name, arguments: given }]
      : [];
  });
}

function count(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

function reasonOf(error: unknown): string {
  if (error instanceof TryAgain) return error.message;
  if (!(error instanceof Error)) return "the connection broke off";
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    const code: unknown = Reflect.get(at, "code");
    if (typeof code === "string") return code;
    if (at.name === "TimeoutError") return "no answer in time";
  }
  if (error.name === "SyntaxError") return "its answer is no JSON";
  if (/abort|timed? ?out/iu.test(`${error.name} ${error.message}`)) return "no answer in time";
  return errorMessage(error).replace(/[.\s]+$/u, "");
}

/** `Retry-After` in seconds or as a date, milliseconds from now. */
function afterOf(headers: Headers | undefined): number | undefined {
  const text = headers?.get("retry-after");
  if (text === null || text === undefined) return undefined;
  const seconds = Number(text);
  const ms = Number.isFinite(seconds) ? seconds * 1_000 : Date.parse(text) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}
