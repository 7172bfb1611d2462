import { endsCaller } from "../../access/authenticator.ts";
import { AppError, errorMessage, shown, toAppError } from "../../base/errors.ts";
import type { ErrorDialect, Route } from "../../rest/route.ts";
import { CLOSE, type CloseCode } from "../../wire/close-codes.ts";
import { CallerGone } from "./request-body.ts";
import type { Answer } from "./response.ts";

/** The error body of the interface: exactly these two members. */
function errorBody(error: AppError): { success: false; message: string } {
  return { success: false, message: error.message };
}

/** Seconds after which to retry what failed for a while, where the error does not say it. */
const RETRY_AFTER = 2;

/** The answer for any thrown error. Errors other than AppError reveal nothing of their cause. */
export function problemAnswer(thrown: unknown, spoken?: Spoken): Answer {
  const error = toAppError(thrown);
  const headers: Record<string, string> = { "X-Error-Code": error.code };
  const isPassing = error.retryable && error.status >= 500;
  const wait = error.retryAfter ?? (isPassing ? RETRY_AFTER : undefined);
  if (wait !== undefined) headers["Retry-After"] = String(Math.max(1, Math.ceil(wait)));
  if (error.status === 401) headers["WWW-Authenticate"] = "Bearer";
  if (spoken === undefined) return { status: error.status, headers, body: errorBody(error) };
  const { dialect, requestId } = spoken;
  const status = dialect.status(error.code);
  return { status, headers, body: dialect.body(error, requestId) };
}

/** How the error of one request is told, where its caller is another service's client. */
interface Spoken {
  dialect: ErrorDialect;
  requestId: string;
}

/** The forms in which errors are told, by the paths of their routes. */
export class Dialects {
  readonly #dialects: readonly ErrorDialect[];

  constructor(routes: readonly Route[]) {
    this.#dialects = [...new Set(routes.flatMap(({ dialect }) => dialect ?? []))];
  }

  /** @param path below /api; undefined where errors are told as everywhere */
  of(path: string, requestId: string): Spoken | undefined {
    const dialect = this.#dialects.find(({ prefix }) => path.startsWith(prefix));
    return dialect && { dialect, requestId };
  }
}

/** The answer for a path that exists with other methods. */
export function wrongMethod(method: string, allow: readonly string[], spoken?: Spoken): Answer {
  const names = allow.join(", ");
  const answer = problemAnswer(
    new AppError("method_not_allowed", `${method} is not possible here; ${names} are.`),
    spoken,
  );
  return { ...answer, headers: { ...answer.headers, Allow: names } };
}

/** The error for a path that does not exist. */
export function nothingAt(path: string): AppError {
  return new AppError("not_found", `There is nothing at ${shown(path)}; /api/docs lists what is.`);
}

/** The close code of a live socket that ends because of this error. */
export function closeCodeOf(error: AppError): CloseCode {
  if (endsCaller(error)) return CLOSE.auth;
  if (error.status === 403) return CLOSE.forbidden;
  if (error.status === 404 || error.code === "session_deleted") return CLOSE.unknownSession;
  if (error.status === 429) return CLOSE.rate;
  return error.status === 400 ? CLOSE.protocol : CLOSE.goingAway;
}

/** Error details for the log; never contains data that the caller sent. */
export function causeOf(failure: unknown): object {
  if (failure instanceof CallerGone) return {};
  const error = toAppError(failure);
  const cause = error.cause ?? failure;
  return {
    code: error.code,
    error: errorMessage(cause),
    stack: cause instanceof Error ? cause.stack : undefined,
  };
}
