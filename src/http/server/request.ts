import type { HttpRequest, HttpResponse } from "uWebSockets.js";
import { isIP } from "node:net";
import { newId } from "../../base/ids.ts";

const PORT = /:\d{1,5}$/;

/**
 * Puts what the proxies in front of us wrote down in the place of what they hide: `host` and
 * `x-forwarded-proto` are then the client's. Without trusted proxies nothing of it is believed.
 *
 * @param hops proxies in a row that add to X-Forwarded-For; the nearest is the peer itself
 * @returns the client's address, when they tell one
 */
export function applyForwarded(headers: Record<string, string>, hops: number): string | undefined {
  const scheme = headers["x-forwarded-proto"];
  if (hops === 0) {
    if (scheme !== undefined) delete headers["x-forwarded-proto"];
    return undefined;
  }
  if (scheme !== undefined) headers["x-forwarded-proto"] = atHop(scheme, hops).toLowerCase();
  const host = headers["x-forwarded-host"];
  if (host !== undefined) headers.host = atHop(host, hops);
  const forwarded = headers["x-forwarded-for"];
  return forwarded === undefined ? undefined : addressIn(atHop(forwarded, hops));
}

/**
 * Each proxy adds at the right whom it heard, so what stands left of the outermost trusted one is
 * the client's own word. A shorter list passed fewer proxies: then the first.
 */
function atHop(list: string, hops: number): string {
  const parts = list.split(",");
  return (parts.at(-hops) ?? parts[0] ?? "").trim();
}

/** An IP address, of which some proxies tell the port too. */
function addressIn(text: string): string | undefined {
  if (isIP(text) > 0) return text;
  const host = text.replace(PORT, "").replace(/^\[(.*)\]$/, "$1");
  return isIP(host) > 0 ? host : undefined;
}

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
