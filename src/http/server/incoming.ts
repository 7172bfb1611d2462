import type { HttpRequest, HttpResponse } from "uWebSockets.js";
import { newId } from "../../base/ids.ts";
import { applyForwarded } from "./forwarded.ts";

/** By their names in lower case. */
export type Headers = Readonly<Record<string, string>>;

/** A request copied out of uWebSockets.js, whose own object dies at the first await. */
export interface Incoming {
  id: string;
  /** Upper case. */
  method: string;
  /** The whole path, undecoded. */
  path: string;
  /** The raw query string without the question mark. */
  query: string;
  /**
   * Lower-case names; repeated headers are joined with a comma. `host` and `x-forwarded-proto` are
   * the client's, as far as trusted proxies tell.
   */
  headers: Headers;
  /** The client's, behind trusted proxies too. */
  address: string;
}

const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;

/**
 * Copies all of a request; call it before anything is awaited.
 *
 * @param hops proxies in front whose word counts
 */
export function copyRequest(res: HttpResponse, req: HttpRequest, hops: number): Incoming {
  const headers: Record<string, string> = Object.create(null);
  req.forEach((name, value) => {
    const before = headers[name];
    headers[name] = before === undefined ? value : `${before}, ${value}`;
  });
  const forwarded = applyForwarded(headers, hops);
  return {
    id: requestId(headers["x-request-id"]),
    method: req.getMethod().toUpperCase(),
    path: req.getUrl(),
    query: req.getQuery() ?? "",
    headers,
    address: forwarded ?? Buffer.from(res.getRemoteAddressAsText()).toString("latin1"),
  };
}

/** What the caller gave, when it is one, else a new one. */
export function requestId(given: string | undefined): string {
  return given !== undefined && REQUEST_ID.test(given) ? given : newId();
}

/** Query parameters, decoded; a repeated one becomes an array. */
export function parseQuery(query: string): Record<string, unknown> {
  const values: Record<string, unknown> = Object.create(null);
  if (query === "") return values;
  for (const [name, value] of new URLSearchParams(query)) {
    const before = values[name];
    if (before === undefined) values[name] = value;
    else values[name] = Array.isArray(before) ? [...before, value] : [before, value];
  }
  return values;
}
