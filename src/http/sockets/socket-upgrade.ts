import type { HttpResponse, us_socket_context_t } from "uWebSockets.js";
import { toAppError } from "../../base/errors.ts";
import { renderAnswer, writeHead } from "../server/answer.ts";
import type { Incoming } from "../server/incoming.ts";
import type { Origins } from "../server/origins.ts";
import { problemAnswer } from "../server/problem.ts";
import type { SocketLog } from "./socket-log.ts";
import type { UpgradeCork } from "./upgrade-cork.ts";

interface UpgradeOptions {
  origins: Origins;
  cork: UpgradeCork;
  log: SocketLog;
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
      if (!gone) accept(res, context, incoming, options.cork, data);
    },
    (error: unknown) => {
      options.log.refused(incoming, toAppError(error));
      if (!gone) refuse(res, options, incoming, error);
    },
  );
}

function accept<T>(
  res: HttpResponse,
  context: us_socket_context_t,
  { id, headers }: Incoming,
  cork: UpgradeCork,
  data: T,
): void {
  res.cork(() => {
    res.writeStatus("101 Switching Protocols");
    res.writeHeader("X-Request-Id", id);
    res.writeHeader("X-API-Version", "1.0");
  });
  cork.run(() =>
    res.upgrade(
      data,
      headers["sec-websocket-key"] ?? "",
      headers["sec-websocket-protocol"] ?? "",
      headers["sec-websocket-extensions"] ?? "",
      context,
    ),
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
