import createClient, { type Client } from "openapi-fetch";
import type { paths } from "../gen/api-schema.ts";
import { type Attempts, type BackOff, PATIENT, type Retry, withRetries } from "./back-off.ts";
import { reasonOf } from "./command-context.ts";

/** Thrown for an answer other than 2xx. `message` contains the call and the service's message. */
export class ApiFailure extends Error {
  readonly status: number;
  /** Error code from `X-Error-Code`, or "". */
  readonly code: string;
  readonly retryAfterMs: number | undefined;
  /** The service's message, without the call. */
  readonly said: string;

  constructor(call: string, status: number, code: string, said: string, retryAfterMs?: number) {
    super(`${call} answered ${status}: ${said}`);
    this.name = "ApiFailure";
    this.status = status;
    this.code = code;
    this.said = said;
    this.retryAfterMs = retryAfterMs;
  }
}

/**
 * Thrown when the service could not be reached, or did not answer in time. It is always worth
 * retrying.
 */
export class Unreachable extends Error {
  /** The reason as the end of a sentence, such as `: ECONNREFUSED` or ` within 3 s`. */
  readonly how: string;

  constructor(call: string, cause: unknown, timeoutMs: number) {
    const isLate = cause instanceof Error && cause.name === "TimeoutError";
    const how = isLate ? ` within ${timeoutMs / 1_000} s` : `: ${reasonOf(cause)}`;
    super(`${call} got no answer${how}`, { cause });
    this.name = "Unreachable";
    this.how = how;
  }
}

/** Sends one request with the client whose types come from the service's OpenAPI document. */
export type Send<T> = (client: Client<paths>) => Promise<{ data?: T }>;

export interface CallOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  readonly onRetry?: Attempts["onRetry"];
}

const TIMEOUT_MS = 30_000;

/** Calls the service's REST interface. Failures are thrown as `ApiFailure` or `Unreachable`. */
export class ApiClient {
  /** Ends with `/api`, without a slash after it. */
  readonly baseUrl: string;
  /** The number of attempts, and the waits between them. */
  readonly backOff: BackOff;

  constructor(baseUrl: string, backOff: BackOff = PATIENT) {
    this.baseUrl = baseUrl;
    this.backOff = backOff;
  }

  /** Sends a request once and returns the content of the answer. */
  async once<T>(send: Send<T>, options: CallOptions = {}): Promise<NonNullable<T>> {
    let name = "the call";
    const client = createClient<paths>({
      baseUrl: this.baseUrl,
      headers: options.headers,
      fetch: (request) => {
        name = this.#nameOf(request);
        return exchange(name, request, options);
      },
    });
    try {
      const { data } = await send(client);
      if (data !== undefined && data !== null) return data;
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      // Falls through: the answer did not come from this service.
    }
    throw new ApiFailure(name, 502, "", "the answer is not a JSON object");
  }

  /**
   * Like `once`, but repeated a limited number of times while the failure is temporary (429, 5xx,
   * network).
   */
  call<T>(send: Send<T>, options: CallOptions = {}): Promise<NonNullable<T>> {
    const { onRetry, signal } = options;
    const attempts = { backOff: this.backOff, judge, onRetry, signal };
    return withRetries(() => this.once(send, options), attempts);
  }

  #nameOf({ method, url }: Request): string {
    return `${method} ${url.slice(this.baseUrl.length).split("?")[0]}`;
  }
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
    const text = await response.text();
    if (!response.ok) throw failureOf(name, response, text);
    return new Response(text, { status: response.status, headers: response.headers });
  } catch (error) {
    if (error instanceof ApiFailure || signal?.aborted) throw error;
    throw new Unreachable(name, error, timeoutMs);
  }
}

/** Decides whether a failure is temporary, and how long the service asked to wait. */
export function judge(error: unknown): Retry {
  if (error instanceof Unreachable) return { retryable: true };
  if (!(error instanceof ApiFailure)) return { retryable: false };
  const { status, code, retryAfterMs } = error;
  // The request may have been carried out, so repeating it might do it twice.
  if (code === "outcome_unknown") return { retryable: false };
  return { retryable: status === 408 || status === 429 || status >= 500, retryAfterMs };
}

function failureOf(call: string, response: Response, text: string): ApiFailure {
  const code = response.headers.get("x-error-code") ?? "";
  const wait = retryAfterMs(response.headers.get("retry-after"));
  const target = response.headers.get("location");
  const said = target === null ? messageIn(text) : `it leads to ${target}; is that the --base-url?`;
  return new ApiFailure(call, response.status, code, said, wait);
}

/** The message of an error body, or its beginning when it is not this service's. */
export function messageIn(text: string): string {
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
