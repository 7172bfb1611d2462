import type { HttpRequest, HttpResponse } from "uWebSockets.js";
import { newId } from "../base/ids.ts";

/** A request copied out of uWebSockets.js, whose own object dies at the first await. */
export interface Incoming {
  id: string;
  /** Upper case. */
  method: string;
  /** The whole path, undecoded. */
  path: string;
  /** The raw query string without the question mark. */
  query: string;
  /** Lower-case names; repeated headers are joined with a comma. */
  headers: Readonly<Record<string, string>>;
  address: string;
}

const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;

/** Copies all of a request; call it before anything is awaited. */
export function copyRequest(res: HttpResponse, req: HttpRequest, trustProxy: boolean): Incoming {
  const headers: Record<string, string> = Object.create(null);
  req.forEach((name, value) => {
    const before = headers[name];
    headers[name] = before === undefined ? value : `${before}, ${value}`;
  });
  return {
    id: requestId(headers["x-request-id"]),
    method: req.getMethod().toUpperCase(),
    path: req.getUrl(),
    query: req.getQuery() ?? "",
    headers,
    address: addressOf(res, headers, trustProxy),
  };
}

/** What the caller gave, when it is one, else a new one. */
export function requestId(given: string | undefined): string {
  return given !== undefined && REQUEST_ID.test(given) ? given : newId();
}

/** The peer's address; behind a proxy we trust, the last one that it wrote down. */
function addressOf(
  res: HttpResponse,
  headers: Readonly<Record<string, string>>,
  trustProxy: boolean,
): string {
  const forwarded = trustProxy ? headers["x-forwarded-for"]?.split(",").at(-1)?.trim() : undefined;
  return forwarded || Buffer.from(res.getRemoteAddressAsText()).toString("latin1");
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
