import type { Principal } from "../../access/principal.ts";
import type { Log } from "../../base/log.ts";
import type { Route } from "../../rest/route.ts";
import { causeOf } from "./problem.ts";
import type { Incoming } from "./request.ts";
import type { Answer } from "./response.ts";

/** A request that was answered. */
interface ServedCall {
  incoming: Incoming;
  /** Absent when no route matched. */
  route: Route | undefined;
  /** Absent when the route needs no authentication, or it failed. */
  principal: Principal | undefined;
  params: Readonly<Record<string, string>>;
  answer: Answer;
  /** The status as sent; 499 when the caller had disconnected. */
  status: number;
  ms: number;
  /** The error, if there was one. */
  failure: unknown;
}

/** Fields that identify the caller in log lines. Contains no secrets. */
export function callerFields(principal: Principal | undefined): object {
  return principal === undefined ? {} : { caller: principal.kind, caller_id: principal.id };
}

/**
 * Writes one log line per request. The level is `info`; `debug` for successful frequent calls and
 * for rate-limited ones; `warn` when a dependency was unavailable; `error` for our own faults.
 */
export function logRequest(log: Log, call: ServedCall): void {
  const { incoming, route, status, answer } = call;
  const code = answer.headers?.["X-Error-Code"];
  const fields = {
    method: incoming.method,
    route: route?.id ?? "none",
    status,
    ...(code === undefined ? {} : { code }),
    ms: Math.round(call.ms * 10) / 10,
    ...callerFields(call.principal),
    address: incoming.address,
    ...sessionOf(call),
    request_id: incoming.id,
  };
  if (status === 500) return log.error({ ...fields, ...causeOf(call.failure) }, "request failed");
  if (status > 500) return log.warn({ ...fields, ...causeOf(call.failure) }, "request failed");
  const quiet = status === 429 || (status < 400 && isFrequent(route));
  if (quiet) log.debug(fields, "request");
  else log.info(fields, "request");
}

function isFrequent(route: Route | undefined): boolean {
  return (
    route !== undefined && (route.frequent === true || (route.body?.kind ?? "json") !== "json")
  );
}

/** The session of the request: from the path, the answer, or the guest's only session. */
function sessionOf({ params, answer, principal }: ServedCall): object {
  const { body } = answer;
  const told =
    typeof body === "object" && body !== null && "session_id" in body ? body.session_id : undefined;
  const id = params.session_id ?? told ?? (principal?.kind === "guest" && principal.sessionId);
  return typeof id === "string" ? { session_id: id } : {};
}
