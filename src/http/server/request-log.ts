import type { Principal } from "../../access/principal.ts";
import type { Log } from "../../base/log.ts";
import type { Route } from "../../rest/route.ts";
import { causeOf } from "./problem.ts";
import type { Incoming } from "./request.ts";
import type { Answer } from "./response.ts";

/** A request after its answer went out. */
interface ServedCall {
  incoming: Incoming;
  /** Absent where the address led to none. */
  route: Route | undefined;
  /** Absent where nobody had to say, or nobody could. */
  principal: Principal | undefined;
  params: Readonly<Record<string, string>>;
  answer: Answer;
  /** As sent; 499 when the caller was gone. */
  status: number;
  ms: number;
  /** Why it went wrong, if it did. */
  failure: unknown;
}

/** Who calls, in every line about a request or a socket. Never a secret. */
export function callerFields(principal: Principal | undefined): object {
  return principal === undefined ? {} : { caller: principal.kind, caller_id: principal.id };
}

/**
 * One line a request: who, from where, what came of it. At `info`, save what
 * devices and monitors ask all day long and callers that are told to slow down,
 * which is `debug`; `warn` when a part was not there, `error` when we were wrong.
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
  return route !== undefined && (route.frequent === true || route.body?.kind === "upload");
}

/** The session that it was about: of the path, of the answer, or the only one of a guest. */
function sessionOf({ params, answer, principal }: ServedCall): object {
  const { body } = answer;
  const told =
    typeof body === "object" && body !== null && "session_id" in body ? body.session_id : undefined;
  const id = params.session_id ?? told ?? (principal?.kind === "guest" && principal.sessionId);
  return typeof id === "string" ? { session_id: id } : {};
}
