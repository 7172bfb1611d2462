import createClient, { type Client } from "openapi-fetch";
import type { Caller, CallerHeaders } from "./access.ts";
import { type Attempts, type BackOff, PATIENT, type Retry, withRetries } from "./back-off.ts";
import {
  ApiError,
  AuthenticationError,
  apiError,
  RateLimitError,
  Unreachable,
  VoiceError,
} from "./errors.ts";
import type { paths } from "./gen/api-schema.ts";

/** Sends one request with the client whose types come from the service's OpenAPI document. */
export type Send<T> = (client: Client<paths>) => Promise<{ data?: T; response: Response }>;

export interface CallOptions {
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** For each attempt by itself; 30 s by default. */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onRetry?: Attempts["onRetry"] | undefined;
  /** Makes a POST safe to repeat; `call` makes one for each call that has none. */
  readonly idempotencyKey?: string | undefined;
}

/** What became known of a request when it was sent. */
interface Sent {
  /** Method and path. */
  name: string;
  isConditional: boolean;
}

const TIMEOUT_MS = 30_000;

/** Calls the service's REST interface. Failures are thrown as `ApiError` or `Unreachable`. */
export class ApiClient {
  /** Ends with `/api`, without a slash after it. */
  readonly baseUrl: string;
  /** The number of attempts, and the waits between them. */
  readonly backOff: BackOff;
  readonly #caller: Caller | undefined;

  /** Without a caller each call says by its headers who calls. */
  constructor(baseUrl: string, backOff: BackOff = PATIENT, caller?: Caller) {
    this.baseUrl = baseUrl;
    this.backOff = backOff;
    this.#caller = caller;
  }

  /**
   * Sends a request once and returns the content of the answer; of a 204 there is none. One whose
   * token is refused is sent once more with a fresh one.
   */
  once<T>(send: Send<T>, options: CallOptions = {}): Promise<NonNullable<T>> {
    return this.#once(send, options, { name: "the call", isConditional: false });
  }

  #once<T>(send: Send<T>, options: CallOptions, sent: Sent): Promise<NonNullable<T>> {
    return this.#named((who) =>
      this.#exchange(send, { ...who, ...options.headers }, options, sent),
    );
  }

  async #exchange<T>(
    send: Send<T>,
    headers: CallerHeaders,
    options: CallOptions,
    sent: Sent,
  ): Promise<NonNullable<T>> {
    const client = createClient<paths>({
      baseUrl: this.baseUrl,
      headers,
      fetch: (request) => {
        sent.name = this.#nameOf(request);
        sent.isConditional = request.headers.has("if-match");
        return exchange(sent.name, keyed(request, options.idempotencyKey), options);
      },
    });
    try {
      const { data, response } = await send(client);
      if ((data !== undefined && data !== null) || response.status === 204) {
        return data as NonNullable<T>;
      }
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      // Falls through: the answer did not come from this service.
    }
    throw apiError({
      call: sent.name,
      status: 502,
      code: "",
      said: "the answer is not a JSON object",
    });
  }

  /**
   * Like `once`, but repeated a limited number of times while the failure is temporary (408, 429,
   * 5xx, network), a POST always under the same Idempotency-Key. A change with `If-Match` is repeated
   * only where it was surely not made: else it would be refused as if by somebody else's.
   */
  call<T>(send: Send<T>, options: CallOptions = {}): Promise<NonNullable<T>> {
    const { onRetry, signal, idempotencyKey = newKey() } = options;
    const sent: Sent = { name: "the call", isConditional: false };
    const keptKey = { ...options, idempotencyKey };
    const judge = (error: unknown): Retry => {
      const mayBeMade = !(error instanceof RateLimitError);
      return sent.isConditional && mayBeMade ? { retryable: false } : judgeKeyed(error);
    };
    const attempts = { backOff: this.backOff, judge, onRetry, signal };
    return withRetries(() => this.#once(send, keptKey, sent), attempts);
  }

  /**
   * One request without the typed client, with the caller's header; resolves with the whole answer
   * when its status is 2xx.
   */
  send(url: string, init: RequestInit, options: CallOptions = {}): Promise<Response> {
    return this.#named((who) => {
      const request = new Request(url, init);
      const headers = { ...who, ...options.headers };
      for (const [name, value] of Object.entries(headers)) request.headers.set(name, value);
      return exchange(this.#nameOf(request), request, options);
    });
  }

  async #named<T>(attempt: (who: CallerHeaders) => Promise<T>): Promise<T> {
    const who = (await this.#caller?.headers()) ?? {};
    try {
      return await attempt(who);
    } catch (error) {
      if (!isOfCaller(error) || !(await this.#caller?.renew(who))) throw error;
      return attempt((await this.#caller?.headers()) ?? {});
    }
  }

  #nameOf({ method, url }: Request): string {
    return `${method} ${url.slice(this.baseUrl.length).split("?")[0]}`;
  }
}

/** A password that is refused says nothing of the caller's token. */
function isOfCaller(error: unknown): boolean {
  return error instanceof AuthenticationError && error.code !== "invalid_credentials";
}

/** A random key. Pages without TLS have no `randomUUID`. */
export function newKey(): string {
  const bytes = [...crypto.getRandomValues(new Uint8Array(16))];
  const text = bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return text.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

function keyed(request: Request, key: string | undefined): Request {
  const isOpen = request.method === "POST" && !request.headers.has("idempotency-key");
  if (isOpen && key !== undefined) request.headers.set("idempotency-key", key);
  return request;
}

/**
 * Sends a request and reads the whole answer within the time limit; throws unless the status is
 * 2xx.
 */
async function exchange(
  name: string,
  request: Request,
  { timeoutMs = TIMEOUT_MS, signal }: CallOptions,
): Promise<Response> {
  const limit = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(request, {
      // Passwords and keys are sent to no other address than the one that was judged.
      redirect: "manual",
      signal: signal ? AbortSignal.any([limit, signal]) : limit,
    });
    const bytes = await response.arrayBuffer();
    if (!response.ok) throw failureOf(name, response, new TextDecoder().decode(bytes));
    const { status, headers } = response;
    return new Response(status === 204 ? null : bytes, { status, headers });
  } catch (error) {
    if (error instanceof VoiceError || signal?.aborted) throw error;
    throw new Unreachable(name, error, timeoutMs);
  }
}

/** Decides whether a failure is temporary, and how long the service asked to wait. */
export function judge(error: unknown): Retry {
  if (!(error instanceof VoiceError)) return { retryable: false };
  const retryAfterMs = error instanceof ApiError ? error.retryAfterMs : undefined;
  return { retryable: error.isRetryable, ...(retryAfterMs !== undefined && { retryAfterMs }) };
}

/** Like `judge`, for calls that have a key where it counts: it tells what became of the first one. */
function judgeKeyed(error: unknown): Retry {
  const isKept =
    error instanceof ApiError && error.code === "outcome_unknown" && error.call.startsWith("POST ");
  return isKept ? { ...judge(error), retryable: true } : judge(error);
}

/** The error that an answer other than 2xx is, from its headers and its body. */
export function failureOf(
  call: string,
  { status, headers }: { status: number; headers: Pick<Headers, "get"> },
  text: string,
): ApiError {
  const target = headers.get("location");
  return apiError({
    call,
    status,
    code: headers.get("x-error-code") ?? "",
    said: target === null ? messageIn(text) : `it leads to ${target}; is that the --base-url?`,
    retryAfterMs: retryAfterMs(headers.get("retry-after")),
    requestId: headers.get("x-request-id") ?? undefined,
  });
}

/** The message of an error body, or its beginning when it is not this service's. */
function messageIn(text: string): string {
  try {
    const body: unknown = JSON.parse(text);
    if (typeof body === "object" && body !== null && "message" in body) return String(body.message);
  } catch {
    // The body is not this service's error body and is shown as it is.
  }
  return text.slice(0, 200).trim() || "no explanation";
}

/** Parses `Retry-After`, a number of seconds or a date (RFC 9110 §10.2.3), as milliseconds. */
export function retryAfterMs(header: string | null, now = Date.now()): number | undefined {
  if (header === null || header.trim() === "") return undefined;
  const seconds = Number(header);
  const wait = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(header) - now;
  return Number.isFinite(wait) ? Math.max(0, wait) : undefined;
}
