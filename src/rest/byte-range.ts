/** Bytes [from, to) of a representation. */
export interface ByteRange {
  from: number;
  to: number;
}

const SINGLE = /^bytes[ \t]*=[ \t]*(\d*)[ \t]*-[ \t]*(\d*)[ \t]*$/i;

/**
 * Parses a `Range` header for `length` bytes (RFC 9110 §14). Returns undefined when it must be
 * ignored (absent, malformed, another unit, several ranges), `unsatisfiable` when none of the range
 * exists.
 */
export function parseByteRange(
  header: string | undefined,
  length: number,
): ByteRange | "unsatisfiable" | undefined {
  const [, first = "", last = ""] = SINGLE.exec(header ?? "") ?? [];
  if (first === "" && last === "") return undefined;
  if (first === "") {
    const count = Math.min(Number(last), length);
    return count === 0 ? "unsatisfiable" : { from: length - count, to: length };
  }
  const from = Number(first);
  const to = last === "" ? length : Math.min(Number(last) + 1, length);
  if (last !== "" && Number(last) < from) return undefined;
  return from >= length ? "unsatisfiable" : { from, to };
}

/**
 * Evaluates `If-Range`: true when the range may be sent because the representation is still `etag`.
 */
export function rangeStillFits(ifRange: string | undefined, etag: string): boolean {
  return ifRange === undefined || ifRange.trim() === etag;
}

/** True when `If-None-Match` names this representation, by weak comparison. */
export function isKnown(ifNoneMatch: string | undefined, etag: string): boolean {
  const tags = (ifNoneMatch ?? "").split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  return tags.includes("*") || tags.includes(etag);
}
