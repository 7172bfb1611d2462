/** Bytes [from, to) of a representation. */
export interface ByteRange {
  from: number;
  to: number;
}

const SINGLE = /^bytes[ \t]*=[ \t]*(\d*)[ \t]*-[ \t]*(\d*)[ \t]*$/i;

/**
 * What a `Range` header asks of `length` bytes (RFC 9110 §14): undefined when
 * it is to be ignored (absent, malformed, another unit, several ranges),
 * `unsatisfiable` when nothing of it is there.
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

/** `If-Range`: true when the range may be given because the representation is still `etag`. */
export function rangeStillFits(ifRange: string | undefined, etag: string): boolean {
  return ifRange === undefined || ifRange.trim() === etag;
}

/** `If-None-Match` names this representation, by weak comparison. */
export function isKnown(ifNoneMatch: string | undefined, etag: string): boolean {
  const tags = (ifNoneMatch ?? "").split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  return tags.includes("*") || tags.includes(etag);
}
