import { sql } from "slonik";
import { cutPage } from "../base/cut-page.ts";
import type { Page } from "../rest/page.ts";

type Fragment = ReturnType<typeof sql.fragment>;

/** Conditions joined by `and`; at least one. */
export function allOf(conditions: readonly Fragment[]): ReturnType<typeof sql.join> {
  return sql.join(conditions, sql.fragment` and `);
}

/** A page of rows that were read with a limit of one more. */
export function toPage<T>(rows: readonly T[], limit: number, key: (row: T) => string): Page<T> {
  const { page, last } = cutPage(rows, limit);
  return last === undefined ? { items: page } : { items: page, next: key(last) };
}
