import { sql } from "slonik";
import { z } from "zod";
import { cutPage, type Page } from "../rest/page.ts";
import { inOneLine } from "../wire/one-line.ts";

/** Unix milliseconds as a `timestamptz`. */
export function toInstant(milliseconds: number): ReturnType<typeof sql.fragment> {
  return sql.fragment`to_timestamp(${milliseconds}::double precision / 1000)`;
}

/**
 * SQL condition: the row's `updated_at` is this time in Unix milliseconds; true for any row when it
 * is undefined.
 */
export function updatedAt(milliseconds: number | undefined): ReturnType<typeof sql.fragment> {
  if (milliseconds === undefined) return sql.fragment`true`;
  return sql.fragment`date_trunc('milliseconds', updated_at) = ${toInstant(milliseconds)}`;
}

/** A name that is shown beside words: in one line, also in rows from before names were checked. */
export const nameColumn = z.string().transform(inOneLine);

type Fragment = ReturnType<typeof sql.fragment>;

/** Joins conditions by `and`; there must be at least one. */
export function allOf(conditions: readonly Fragment[]): ReturnType<typeof sql.join> {
  return sql.join(conditions, sql.fragment` and `);
}

/** Makes a page of rows that were read with a limit of one more. */
export function toPage<T>(rows: readonly T[], limit: number, key: (row: T) => string): Page<T> {
  const { page, last } = cutPage(rows, limit);
  return last === undefined ? { items: page } : { items: page, next: key(last) };
}
