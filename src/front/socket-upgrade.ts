import type { HttpResponse, us_socket_context_t } from "uWebSockets.js";
import { type AppError, errorMessage, toAppError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { renderAnswer, writeHead } from "./answer.ts";
import type { Incoming } from "./incoming.ts";
import type { Origins } from "./origins.ts";
import { problemAnswer } from "./problem.ts";

export interface UpgradeOptions {
  /** As logs call it. */
  route: string;
  origins: Origins;
  log: Log;
}

/** Turns the request into a WebSocket with `admitted` as its data, or answers why not. */
export function upgrade<T>(
  res: HttpResponse,
  context: us_socket_context_t,
  incoming: Incoming,
  options: UpgradeOptions,
  admitted: Promise<T>,
): void {
  let gone = false;
  res.onAborted(() => {
    gone = true;
  });
  admitted.then(
    (data) => {
      if (!gone) accept(res, context, incoming, data);
    },
    (error: unknown) => {
      logRefusal(options, incoming, toAppError(error));
      if (!gone) refuse(res, options, incoming, error);
    },
  );
}

function accept<T>(
  res: HttpResponse,
  context: us_socket_context_t,
  { id, headers }: Incoming,
  data: T,
): void {
  res.cork(() => {
    res.writeStatus("101 Switching Protocols");
    res.writeHeader("X-Request-Id", id);
    res.writeHeader("X-API-Version", "1.0");
  });
  // Not corked, although uWebSockets.js warns of it on stderr: when the upgraded socket keeps its
  // place in memory, the uncork that follows reads it as an HTTP response and may close it.
  res.upgrade(
    data,
    headers["sec-websocket-key"] ?? "",
    headers["sec-websocket-protocol"] ?? "",
    headers["sec-websocket-extensions"] ?? "",
    context,
  );
}

function refuse(
  res: HttpResponse,
  { origins }: UpgradeOptions,
  incoming: Incoming,
  error: unknown,
): void {
  const answer = problemAnswer(error);
  const { head, payload } = renderAnswer(answer, origins.headers(incoming.headers));
  res.cork(() => {
    writeHead(res, answer.status, incoming.id, head);
    res.end(payload ?? "", true);
  });
}

function logRefusal({ route, log }: UpgradeOptions, { id }: Incoming, error: AppError): void {
  const fields = { route, status: error.status, request_id: id };
  if (error.status < 500) return log.debug(fields, "live connection refused");
  log.error({ ...fields, error: errorMessage(error.cause ?? error) }, "live connection failed");
}
