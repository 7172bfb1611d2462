import { createHmac, timingSafeEqual } from "node:crypto";
import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { AppError } from "../base/errors.ts";
import { isId } from "../base/ids.ts";

/**
 * Removes the one row that was read beyond the limit. `last` is the last row of the page, after
 * which the next page begins; undefined when there is no next page.
 */
export function cutPage<T>(rows: readonly T[], limit: number): { page: T[]; last: T | undefined } {
  const page = rows.slice(0, limit);
  return { page, last: rows.length > limit ? page.at(-1) : undefined };
}

const MAC_BYTES = 16;
const MAX_CURSOR = 1_024;

function mac(key: Uint8Array, list: string, position: Buffer): Buffer {
  return createHmac("sha256", key)
    .update(`${list}\u0000`)
    .update(position)
    .digest()
    .subarray(0, MAC_BYTES);
}

/**
 * Encodes the position after which the next page begins: the sort keys of the last item shown. The
 * cursor is opaque and signed, so that clients cannot construct one.
 *
 * @param list names the list; a cursor of one list is refused by another
 */
export function encodeCursor(key: Uint8Array, list: string, position: readonly string[]): string {
  const bytes = Buffer.from(JSON.stringify(position));
  return Buffer.concat([mac(key, list, bytes), bytes]).toString("base64url");
}

/**
 * Decodes a cursor to its sort keys. Throws `invalid_parameter` for a cursor that this service did
 * not issue.
 */
export function decodeCursor(key: Uint8Array, list: string, cursor: string): string[] {
  const bytes = Buffer.from(cursor.slice(0, MAX_CURSOR), "base64url");
  const position = bytes.subarray(MAC_BYTES);
  const given = bytes.subarray(0, MAC_BYTES);
  if (
    cursor.length > MAX_CURSOR ||
    given.length < MAC_BYTES ||
    !timingSafeEqual(given, mac(key, list, position))
  ) {
    throw new AppError(
      "invalid_parameter",
      "`cursor` is not one that this list gave out. Start again without it.",
    );
  }
  return JSON.parse(position.toString("utf8")) as string[];
}

const DEFAULT_LIMIT = 50;

/** The query parameters of every list. */
export const pageQuery = {
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100, default: DEFAULT_LIMIT, description: "Page size" }),
  ),
  cursor: Type.Optional(
    Type.String({ maxLength: 1_024, description: "`next_cursor` of the page before" }),
  ),
};

const pageQuerySchema = Type.Object(pageQuery);

/** The page that a store should read: newest first, by id. */
export interface PageRequest {
  /** Most rows to return. */
  limit: number;
  /** Id of the previous page's last item. */
  after?: string;
}

/** A page from a store; `next` is the id after which the next page begins. */
export interface Page<T> {
  items: T[];
  next?: string;
}

export function toPageRequest(
  key: Uint8Array,
  list: string,
  query: Static<typeof pageQuerySchema>,
): PageRequest {
  const { limit, after } = toPositionRequest(key, list, query);
  return after === undefined ? { limit } : { limit, after: after[0] };
}

/**
 * The page of a list whose position is more than an id. Let `list` name what the list is filtered
 * and sorted by, too, so that a cursor goes on only with what it was made for.
 */
export function toPositionRequest(
  key: Uint8Array,
  list: string,
  { limit = DEFAULT_LIMIT, cursor }: Static<typeof pageQuerySchema>,
): { limit: number; after: string[] | undefined } {
  return { limit, after: cursor === undefined ? undefined : decodeCursor(key, list, cursor) };
}

/** The body of an answer: `{items, next_cursor}`; the cursor is null at the end. */
export function toPageBody<T, U>(
  key: Uint8Array,
  list: string,
  page: Page<T>,
  present: (item: T) => U,
): { items: U[]; next_cursor: string | null } {
  return {
    items: page.items.map(present),
    next_cursor: page.next === undefined ? null : encodeCursor(key, list, [page.next]),
  };
}

/**
 * Schema of `{items, next_cursor}`; the cursor is null at the end. A page of items with an `$id` has
 * one as well.
 */
export function pageSchema<T extends TSchema>(item: T) {
  const items = Type.Array(item);
  const members = { items, next_cursor: Type.Union([Type.String(), Type.Null()]) };
  return Type.Object(members, item.$id === undefined ? {} : { $id: `${item.$id}Page` });
}

/**
 * Checks an id that is given as a filter. Undefined stays undefined; throws 400 for anything but a
 * UUID.
 */
export function filterId(name: string, value: string | undefined): string | undefined {
  if (value === undefined || isId(value)) return value;
  throw new AppError("invalid_parameter", `${name} must be a UUID in lower case.`);
}

/**
 * Checks an instant that is given as a filter: Unix milliseconds. Undefined stays undefined; throws
 * 400 for what no calendar has.
 */
export function filterInstant(name: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const at = Date.parse(value);
  if (Number.isFinite(at)) return at;
  throw new AppError("invalid_parameter", `${name} must be a time of this calendar.`);
}
