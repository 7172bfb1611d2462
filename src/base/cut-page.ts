/**
 * Cuts off the one row that was read beyond the limit. `last` is the row that the next page goes on
 * after; it is undefined when there is no next page.
 */
export function cutPage<T>(rows: readonly T[], limit: number): { page: T[]; last: T | undefined } {
  const page = rows.slice(0, limit);
  return { page, last: rows.length > limit ? page.at(-1) : undefined };
}
