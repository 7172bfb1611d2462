import { createHash } from "node:crypto";

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
