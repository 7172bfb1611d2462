import { type Attempts, type BackOff, PATIENT, type Retry, withRetries } from "./back-off.ts";
import { reasonOf } from "./command-failure.ts";

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
  constructor(call: string, cause: unknown) {
    super(`${call} got no answer: ${reasonOf(cause)}`, { cause });
    this.name = "Unreachable";
  }
}

export type JsonObject = Readonly<Record<string, unknown>>;

export interface Call {
  readonly method: "GET" | "POST" | "PATCH" | "PUT" | "DELETE";
  /** Below the base address, e.g. `/auth/login`. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: JsonObject;
  readonly bytes?: Uint8Array<ArrayBuffer>;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

const TIMEOUT_MS = 30_000;

/** Calls the service's REST interface; answers are JSON objects, failures `ApiFailure` or `Unreachable`. */
export class ApiClient {
  /** With `/api`, without a slash at the end. */
  readonly baseUrl: string;
  readonly #backOff: BackOff;

  constructor(baseUrl: string, backOff: BackOff = PATIENT) {
    this.baseUrl = baseUrl;
    this.#backOff = backOff;
  }

  /** One attempt. */
  async once(call: Call): Promise<JsonObject> {
    const text = await this.text(call);
    try {
      const body: unknown = JSON.parse(text);
      if (typeof body === "object" && body !== null) return body as JsonObject;
    } catch {
      // Falls through: whatever answered is not this service.
    }
    throw new ApiFailure(nameOf(call), 502, "", "the answer is not a JSON object");
  }

  /** As `once`, repeated within bounds while the failure is a passing one (429, 5xx, network). */
  call(call: Call, onRetry?: Attempts["onRetry"]): Promise<JsonObject> {
    const { signal } = call;
    return withRetries(() => this.once(call), { backOff: this.#backOff, judge, onRetry, signal });
  }

  /** One attempt; the answer's body as text. */
  async text(call: Call): Promise<string> {
    const limit = AbortSignal.timeout(call.timeoutMs ?? TIMEOUT_MS);
    try {
      const response = await fetch(this.baseUrl + call.path, {
        method: call.method,
        headers: { ...(call.json && { "Content-Type": "application/json" }), ...call.headers },
        body: call.json ? JSON.stringify(call.json) : call.bytes,
        signal: call.signal ? AbortSignal.any([limit, call.signal]) : limit,
      });
      const text = await response.text();
      if (!response.ok) throw failureOf(nameOf(call), response, text);
      return text;
    } catch (error) {
      if (error instanceof ApiFailure || call.signal?.aborted) throw error;
      throw new Unreachable(nameOf(call), error);
    }
  }
}

/** Which failures pass by themselves, and how long the service asked to wait. */
export function judge(error: unknown): Retry {
  if (error instanceof Unreachable) return { retryable: true };
  if (!(error instanceof ApiFailure)) return { retryable: false };
  const { status, retryAfterMs } = error;
  return { retryable: status === 408 || status === 429 || status >= 500, retryAfterMs };
}

function nameOf({ method, path }: Call): string {
  return `${method} ${path.split("?")[0]}`;
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
