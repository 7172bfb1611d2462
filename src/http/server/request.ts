import type { HttpRequest, HttpResponse } from "uWebSockets.js";
import { isIP } from "node:net";
import { newId } from "../../base/ids.ts";
import { type Network, networkOf } from "../../wire/network.ts";

const PORT = /:\d{1,5}$/;

/**
 * Replaces `host` and `x-forwarded-proto` by the client's values, as trusted proxies report them.
 * Without trusted proxies the forwarded headers are ignored.
 *
 * @param hops number of consecutive proxies that add to X-Forwarded-For; the nearest is the peer
 * itself
 * @returns the client's address, when the proxies report one
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
 * The entry that the outermost trusted proxy added. Each proxy appends the address of its peer, so
 * entries further left come from the client. A shorter list passed fewer proxies; then the first
 * entry counts.
 */
function atHop(list: string, hops: number): string {
  const parts = list.split(",");
  return (parts.at(-hops) ?? parts[0] ?? "").trim();
}

/** An IP address; some proxies append the port. */
function addressIn(text: string): string | undefined {
  if (isIP(text) > 0) return text;
  const host = text.replace(PORT, "").replace(/^\[(.*)\]$/, "$1");
  return isIP(host) > 0 ? host : undefined;
}

/** Headers by lower-case name. */
export type Headers = Readonly<Record<string, string>>;

/** A copy of a uWebSockets.js request, whose own object is invalid after the first await. */
export interface Incoming extends Network {
  id: string;
  /** In upper case. */
  method: string;
  /** The whole path, undecoded. */
  path: string;
  /** The raw query string without the question mark. */
  query: string;
  /**
   * Headers by lower-case name; repeated headers are joined with a comma. `host` and
   * `x-forwarded-proto` are the client's, if trusted proxies report them.
   */
  headers: Headers;
  /** The client's address, also behind trusted proxies. */
  address: string;
  /**
   * Why the request must not be served, as a sentence: another reader of the same bytes might see
   * its end, or its host, elsewhere. The connection ends with the answer.
   */
  fault: string | undefined;
}

const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;

/**
 * Copies a request. Must be called before anything is awaited.
 *
 * @param hops number of trusted proxies in front
 */
export function copyRequest(res: HttpResponse, req: HttpRequest, hops: number): Incoming {
  const headers: Record<string, string> = Object.create(null);
  let repeated: string | undefined;
  req.forEach((name, value) => {
    const before = headers[name];
    headers[name] = before === undefined ? value : `${before}, ${value}`;
    if (before !== undefined && SINGLE.has(name)) repeated = name;
  });
  const fault = framingFault(headers, repeated);
  const forwarded = applyForwarded(headers, hops);
  const address = forwarded ?? Buffer.from(res.getRemoteAddressAsText()).toString("latin1");
  const { network, site } = networkOf(address);
  return {
    id: requestId(headers["x-request-id"]),
    method: req.getMethod().toUpperCase(),
    path: req.getUrl(),
    query: req.getQuery() ?? "",
    headers,
    address,
    network,
    site,
    fault,
  };
}

/** Headers that decide where a request ends and whom it is for: each may come once. */
const SINGLE: ReadonlySet<string> = new Set(["host", "content-length", "transfer-encoding"]);
const LENGTH = /^\d{1,15}$/;
const HOST = /^[^\s,/?#@\\]+$/;

/** @param repeated a header that must not be repeated, and was */
function framingFault(headers: Headers, repeated: string | undefined): string | undefined {
  if (repeated !== undefined) return `The header ${repeated} came more than once.`;
  const { host = "", "content-length": length, "transfer-encoding": coding } = headers;
  if (!HOST.test(host)) return "The header host does not name one host.";
  if (length !== undefined && !LENGTH.test(length)) {
    return "The header content-length is not a plain number of bytes.";
  }
  if (coding === undefined) return undefined;
  if (length !== undefined) return "A body has either a content-length or a transfer-encoding.";
  // uWebSockets.js reads every coding as chunks.
  if (coding.toLowerCase() === "chunked") return undefined;
  return "The only transfer-encoding that is taken is chunked.";
}

/** Whether it has no body and is for one host, without copying it. */
export function isPlain(req: HttpRequest): boolean {
  let hosts = 0;
  let hasBody = false;
  req.forEach((name) => {
    if (name === "host") hosts += 1;
    else if (name === "content-length" || name === "transfer-encoding") hasBody = true;
  });
  return hosts === 1 && !hasBody && HOST.test(req.getHeader("host"));
}

/** The given id if it is valid, else a new one. */
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
    else if (Array.isArray(before)) before.push(value);
    else values[name] = [before, value];
  }
  return values;
}
