import { createHash } from "node:crypto";
import { isEdit, Representations, staleEdit } from "../../rest/representations.ts";
import type { Reply, Request, Route } from "../../rest/route.ts";

/**
 * A strong ETag in up to two parts: a digest of what edits change, and one of everything. The
 * second part is there when some members change by themselves: these make a reader's copy stale,
 * but not an edit.
 */
export function entityTag(body: unknown, volatile: readonly string[] = []): string {
  const all = digest(body);
  if (volatile.length === 0) return `"${all}"`;
  const lasting = Object.entries(body ?? {}).filter(([name]) => !volatile.includes(name));
  return `"${digest(Object.fromEntries(lasting))}.${all}"`;
}

function digest(value: unknown): string {
  const text = JSON.stringify(value) ?? "";
  return createHash("sha256").update(text).digest("base64url").slice(0, 22);
}

/** Matches a tag with the suffix that some proxies append when they compress (Apache, Caddy). */
const TAG = /(?:W\/)?("[\x21\x23-\x7e\x80-\xff]*?)(?:-(?:gzip|br|zstd|deflate))?"/g;

/**
 * The tags of an If-Match or If-None-Match as this service issued them; "*" for any. Compressing
 * proxies make them weak (`W/`), but the tag still names the same representation.
 */
function tagsOf(header: string): string[] | "*" {
  if (header.trim() === "*") return "*";
  return Array.from(header.matchAll(TAG), ([, opening]) => `${opening}"`);
}

/** The part of a tag with which edits are compared. */
function lastingPart(tag: string): string {
  return tag.replace(/\.[^.]*"$/, '"');
}

/** Evaluates If-Match (RFC 9110 §13.1.1), ignoring members that change by themselves. */
export function isExpected(header: string, tag: string): boolean {
  const tags = tagsOf(header);
  return tags === "*" || tags.some((given) => lastingPart(given) === lastingPart(tag));
}

/** Evaluates If-None-Match (RFC 9110 §13.1.2) by weak comparison of the whole tag. */
export function isKnown(header: string, tag: string): boolean {
  const tags = tagsOf(header);
  return tags === "*" || tags.includes(tag);
}

export function weakTag(tag: string): string {
  return tag.startsWith("W/") ? tag : `W/${tag}`;
}

/**
 * Adds ETags to answers, and `Location` to those that made something; checks If-Match before edits and
 * If-None-Match on reads.
 */
export class Preconditions {
  readonly #representations: Representations;

  constructor(routes: readonly Route[]) {
    this.#representations = new Representations(routes);
  }

  /**
   * Checks If-Match. Throws `precondition_failed` when it names none of the resource's current
   * tags, or sets `request.isStale` where the session decides. Otherwise sets `request.expected`,
   * with which the store detects a change after this check.
   */
  async check(route: Route, request: Request): Promise<void> {
    const header = request.headers["if-match"];
    if (header === undefined || !isEdit(route)) return;
    const shown = this.#representations.find(route);
    if (header.trim() === "*") return;
    const current = shown === undefined ? undefined : await show(shown, request);
    if (shown !== undefined && isExpected(header, entityTag(current, shown.volatile))) {
      request.expected = current;
    } else if (route.settlesStale === true && request.headers["idempotency-key"] !== undefined) {
      request.isStale = true;
    } else throw staleEdit();
  }

  /** The answer with its ETag or Location; 304 when the reader has the same version. */
  finish(route: Route, request: Request, reply: Reply): Reply {
    if (reply.status === 201) return this.#placed(route, request, reply);
    if (reply.status !== 200 || !this.#representations.isTagged(route)) return reply;
    const tag = entityTag(reply.body, this.#representations.find(route)?.volatile);
    const known = request.headers["if-none-match"];
    if (route.method === "get" && known !== undefined && isKnown(known, tag)) {
      // The tag as the reader sent it, so that a cache finds its copy.
      const weak = weakTag(tag);
      const same = known.includes(weak) ? weak : tag;
      return { status: 304, headers: { ...reply.headers, ETag: same } };
    }
    return { ...reply, headers: { ...reply.headers, ETag: tag } };
  }

  #placed(route: Route, request: Request, reply: Reply): Reply {
    const path = this.#representations.madeAt(route, request, reply.body);
    if (path === undefined) return reply;
    return { ...reply, headers: { ...reply.headers, Location: `/api${path}` } };
  }
}

/** The answer that the resource's GET would give to this caller now. */
async function show(route: Route, request: Request): Promise<unknown> {
  const { signal } = request;
  const reading = { ...request, signal, method: "GET", query: {}, body: undefined };
  const resource = await route.resolve?.(reading);
  return (await route.handle(reading, resource)).body;
}
