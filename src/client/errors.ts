import type { components } from "./gen/live-schema.ts";

/** Codes that the service gives, see its documents, and those of failures on this side. */
export type ErrorCode =
  | components["schemas"]["Error"]["code"]
  | "unreachable"
  | "invalid_answer"
  | "closed"
  | "audio_lost"
  | "upload_failed"
  | "invalid_signature";

/** Every failure of this package; `code` is for programs, `message` for people. */
export class VoiceError extends Error {
  /** "" where a proxy answered in place of the service. */
  readonly code: ErrorCode | "";
  /** True when the same may work later. Calls were repeated already before it was thrown. */
  readonly isRetryable: boolean;

  constructor(code: ErrorCode | "", message: string, isRetryable: boolean, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
    this.isRetryable = isRetryable;
  }
}

/** What an answer other than 2xx said. */
interface Refusal {
  /** Method and path of the call. */
  readonly call: string;
  readonly status: number;
  /** From `X-Error-Code`, or "". */
  readonly code: string;
  /** The service's message, without the call. */
  readonly said: string;
  readonly retryAfterMs?: number | undefined;
  /** From `X-Request-Id`: names the call in the service's log. */
  readonly requestId?: string | undefined;
}

/** Thrown for an answer other than 2xx. `message` contains the call and the service's message. */
export class ApiError extends VoiceError {
  /** Method and path. */
  readonly call: string;
  readonly status: number;
  readonly said: string;
  readonly retryAfterMs: number | undefined;
  readonly requestId: string | undefined;

  constructor({ call, status, code, said, retryAfterMs, requestId }: Refusal) {
    const isPassing = status === 408 || status === 429 || status >= 500;
    // A request with this code may have been carried out: only its Idempotency-Key may repeat it.
    const isRetryable =
      (isPassing && code !== "outcome_unknown") || code === "idempotency_in_progress";
    super(code as ErrorCode | "", `${call} answered ${status}: ${said}`, isRetryable);
    this.call = call;
    this.status = status;
    this.said = said;
    this.retryAfterMs = retryAfterMs;
    this.requestId = requestId;
  }
}

/** 401: the key or token is missing, wrong, or no longer accepted. */
export class AuthenticationError extends ApiError {}

/** 403: the caller may not do this. */
export class ForbiddenError extends ApiError {}

/** 404: there is no such thing, or not for this caller. */
export class NotFoundError extends ApiError {}

/** 409 and 412: the state of the thing does not allow it. */
export class ConflictError extends ApiError {}

/** 400, 413, 415, 422 and other 4xx: the request itself is wrong. */
export class InvalidRequestError extends ApiError {}

/** 408 and 429: too slow, or too many requests; `retryAfterMs` says when to come again. */
export class RateLimitError extends ApiError {}

/** 5xx: the service could not do it now. */
export class ServiceError extends ApiError {}

/** The error of the class that belongs to its status. */
export function apiError(refusal: Refusal): ApiError {
  const { status } = refusal;
  if (status === 401) return new AuthenticationError(refusal);
  if (status === 403) return new ForbiddenError(refusal);
  if (status === 404) return new NotFoundError(refusal);
  if (status === 409 || status === 412) return new ConflictError(refusal);
  if (status === 408 || status === 429) return new RateLimitError(refusal);
  return status >= 500 ? new ServiceError(refusal) : new InvalidRequestError(refusal);
}

/**
 * Thrown when the service could not be reached, or did not answer in time. It is always worth
 * retrying.
 */
export class Unreachable extends VoiceError {
  /** The reason as the end of a sentence, such as `: ECONNREFUSED` or ` within 3 s`. */
  readonly how: string;

  constructor(call: string, cause: unknown, timeoutMs: number) {
    const isLate = cause instanceof Error && cause.name === "TimeoutError";
    const how = isLate ? ` within ${timeoutMs / 1_000} s` : `: ${reasonOf(cause)}`;
    super("unreachable", `${call} got no answer${how}`, true, { cause });
    this.how = how;
  }
}

interface ChannelEnding {
  readonly isRetryable?: boolean;
  readonly closeCode?: number | undefined;
  readonly said?: string;
}

/** A WebSocket was refused for good, or broke so often that it was given up. */
export class ChannelError extends VoiceError {
  /** The close code, see `CLOSE`; undefined when an error or another reason ended it. */
  readonly closeCode: number | undefined;
  /** What the service said, or "". */
  readonly said: string;

  constructor(
    code: ErrorCode | "",
    message: string,
    { isRetryable = false, closeCode, said = "" }: ChannelEnding = {},
  ) {
    super(code, message, isRetryable);
    this.closeCode = closeCode;
    this.said = said;
  }
}

/** A file was brought as a whole and could not be stored as sound. */
export class UploadError extends VoiceError {
  constructor(code: string, message: string) {
    super((code || "upload_failed") as ErrorCode, message, false);
  }
}

/** A message did not come from the service, or is older than it may be. */
export class SignatureError extends VoiceError {
  constructor(message: string) {
    super("invalid_signature", message, false);
  }
}

/** The message of any thrown value; a failed fetch has its reason in `cause`. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (cause instanceof Error && error.message === "fetch failed") {
    const code = "code" in cause && typeof cause.code === "string" ? cause.code : "";
    return [code, cause.message].find((text) => text !== "") ?? "connection failed";
  }
  return error.message || error.name;
}
