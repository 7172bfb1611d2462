import createClient, { type Client } from "openapi-fetch";
import type { paths } from "../gen/api-schema.ts";
import { type Attempts, type BackOff, PATIENT, type Retry, withRetries } from "./back-off.ts";
import { reasonOf } from "./command-context.ts";

/** An answer other than 2xx. `message` says which call and what the service said. */
export class ApiFailure extends Error {
  readonly status: number;
  /** Machine code from `X-Error-Code`, or "". */
  readonly code: string;
  readonly retryAfterMs: number | undefined;
  /** The service's own sentence, without the call. */
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

/** The service could not be reached, or did not answer in time. Always worth another try. */
export class Unreachable extends Error {
  /** `: ECONNREFUSED`, ` within 3 s`: how it came to no answer. */
  readonly how: string;

  constructor(call: string, cause: unknown, timeoutMs: number) {
    const isLate = cause instanceof Error && cause.name === "TimeoutError";
    const how = isLate ? ` within ${timeoutMs / 1_000} s` : `: ${reasonOf(cause)}`;
    super(`${call} got no answer${how}`, { cause });
    this.name = "Unreachable";
    this.how = how;
  }
}

/** One request, through the client whose types come from the service's OpenAPI document. */
export type Send<T> = (client: Client<paths>) => Promise<{ data?: T }>;

export interface CallOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  readonly onRetry?: Attempts["onRetry"];
}

const TIMEOUT_MS = 30_000;

/** Calls the service's REST interface; failures are `ApiFailure` or `Unreachable`. */
export class ApiClient {
  /** With `/api`, without a slash at the end. */
  readonly baseUrl: string;
  /** How failures that pass are sat out. */
  readonly backOff: BackOff;

  constructor(baseUrl: string, backOff: BackOff = PATIENT) {
    this.baseUrl = baseUrl;
    this.backOff = backOff;
  }

  /** One attempt; what the answer holds. */
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
      // Falls through: whatever answered is not this service.
    }
    throw new ApiFailure(name, 502, "", "the answer is not a JSON object");
  }

  /** As `once`, repeated within bounds while the failure is a passing one (429, 5xx, network). */
  call<T>(send: Send<T>, options: CallOptions = {}): Promise<NonNullable<T>> {
    const { onRetry, signal } = options;
    const attempts = { backOff: this.backOff, judge, onRetry, signal };
    return withRetries(() => this.once(send, options), attempts);
  }

  #nameOf({ method, url }: Request): string {
    return `${method} ${url.slice(this.baseUrl.length).split("?")[0]}`;
  }
}

/** Sends a request and reads all of its answer, within its time; throws unless that is 2xx. */
async function exchange(
  name: string,
  request: Request,
  { timeoutMs = TIMEOUT_MS, signal }: CallOptions,
): Promise<Response> {
  const limit = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(request, {
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

/** Which failures pass by themselves, and how long the service asked to wait. */
export function judge(error: unknown): Retry {
  if (error instanceof Unreachable) return { retryable: true };
  if (!(error instanceof ApiFailure)) return { retryable: false };
  const { status, code, retryAfterMs } = error;
  // It may have been done: to repeat it blindly might do it twice.
  if (code === "outcome_unknown") return { retryable: false };
  return { retryable: status === 408 || status === 429 || status >= 500, retryAfterMs };
}

function failureOf(call: string, response: Response, text: string): ApiFailure {
  const code = response.headers.get("x-error-code") ?? "";
  const wait = retryAfterMs(response.headers.get("retry-after"));
  return new ApiFailure(call, response.status, code, messageIn(text), wait);
}

function messageIn(text: string): string {
  try {
    const body: unknown = JSON.parse(text);
    if (typeof body === "object" && body !== null && "message" in body) return String(body.message);
  } catch {
    // Not this service's error body; shown as it came.
  }
  return text.slice(0, 200).trim() || "no explanation";
}

/** `Retry-After` is a number of seconds or a date (RFC 9110 §10.2.3). */
export function retryAfterMs(header: string | null, now = Date.now()): number | undefined {
  if (header === null || header.trim() === "") return undefined;
  const seconds = Number(header);
  const wait = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(header) - now;
  return Number.isFinite(wait) ? Math.max(0, wait) : undefined;
}
