import type { Principal } from "../../src/access/principal.ts";
import { AppError, type ErrorCode } from "../../src/base/errors.ts";
import type { Reply, Request, Route } from "../../src/rest/route.ts";

export type Call = Partial<Omit<Request, "principal">> & { principal?: Principal };

/** Calls a route as the front does after its own checks: `resolve`, then `handle`. */
export async function callRoute(routes: readonly Route[], id: string, call: Call): Promise<Reply> {
  const route = routes.find((candidate) => candidate.id === id);
  if (route === undefined) throw new Error(`no route ${id}`);
  const request: Request = {
    id: "test",
    method: route.method,
    params: {},
    query: {},
    headers: {},
    body: undefined,
    address: "127.0.0.1",
    network: "127.0.0.1",
    signal: new AbortController().signal,
    principal: undefined,
    ...call,
  };
  return route.handle(request, await route.resolve?.(request));
}

/** The body of a reply as a client gets it: through JSON. */
export function jsonBody(reply: Reply): Record<string, unknown> {
  return JSON.parse(textBody(reply));
}

/** The body of a reply as text. */
export function textBody({ body }: Reply): string {
  if (typeof body === "string") return body;
  return body instanceof Uint8Array ? Buffer.from(body).toString() : JSON.stringify(body);
}

/** The code of the AppError that `work` throws, or `none`. */
export async function codeOf(work: Promise<unknown>): Promise<ErrorCode | "none"> {
  try {
    await work;
    return "none";
  } catch (error) {
    if (error instanceof AppError) return error.code;
    throw error;
  }
}
