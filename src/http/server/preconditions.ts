import { createHash } from "node:crypto";
import { isEdit, Representations, staleEdit } from "../../rest/representations.ts";
import type { Reply, Request, Route } from "../../rest/route.ts";

/**
 * A strong validator in two parts: what edits change, and all of it. The second
 * is there when some members change by themselves; an edit is not stale for
 * those, while a reader's copy is.
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

/** What a server on the way appends to a tag when it compresses (Apache, Caddy). */
const TAG = /(?:W\/)?("[\x21\x23-\x7e\x80-\xff]*?)(?:-(?:gzip|br|zstd|deflate))?"/g;

/**
 * The tags of an If-Match or If-None-Match as we gave them out; "*" for any. Every proxy that
 * compresses makes ours weak (`W/`): the thing is still the one that the tag names.
 */
function tagsOf(header: string): string[] | "*" {
  if (header.trim() === "*") return "*";
  return Array.from(header.matchAll(TAG), ([, opening]) => `${opening}"`);
}

/** What an edit is held against. */
function lastingPart(tag: string): string {
  return tag.replace(/\.[^.]*"$/, '"');
}

/** If-Match (RFC 9110 §13.1.1), without what changes by itself. */
export function isExpected(header: string, tag: string): boolean {
  const tags = tagsOf(header);
  return tags === "*" || tags.some((given) => lastingPart(given) === lastingPart(tag));
}

/** If-None-Match (RFC 9110 §13.1.2): weak comparison of the whole. */
export function isKnown(header: string, tag: string): boolean {
  const tags = tagsOf(header);
  return tags === "*" || tags.includes(tag);
}

/** The tag of the same thing in other bytes. */
export function weakTag(tag: string): string {
  return tag.startsWith("W/") ? tag : `W/${tag}`;
}

/** ETags on answers, If-Match before edits, If-None-Match on reads. */
export class Preconditions {
  readonly #representations: Representations;

  constructor(routes: readonly Route[]) {
    this.#representations = new Representations(routes);
  }

  /**
   * Throws `precondition_failed` when If-Match names none of the thing's
   * current tags, or sets `request.isStale` where another one settles that.
   * Else sets `request.expected`, with which a store settles what changes
   * between this look and its own.
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

  /** The answer with its ETag; 304 when a reader has it already. */
  finish(route: Route, request: Request, reply: Reply): Reply {
    if (reply.status !== 200 || !this.#representations.isTagged(route)) return reply;
    const tag = entityTag(reply.body, this.#representations.find(route)?.volatile);
    const known = request.headers["if-none-match"];
    if (route.method === "get" && known !== undefined && isKnown(known, tag)) {
      // As the reader's copy has it, so that a cache finds that copy again.
      const weak = weakTag(tag);
      const same = known.includes(weak) ? weak : tag;
      return { status: 304, headers: { ...reply.headers, ETag: same } };
    }
    return { ...reply, headers: { ...reply.headers, ETag: tag } };
  }
}

/** What the thing's GET would answer to this caller now. */
async function show(route: Route, request: Request): Promise<unknown> {
  const { signal } = request;
  const reading = { ...request, signal, method: "GET", query: {}, body: undefined };
  const resource = await route.resolve?.(reading);
  return (await route.handle(reading, resource)).body;
}
