interface Page<T> {
  readonly items: readonly T[];
  readonly next_cursor: string | null;
}

/** Largest page that the service gives. */
const PAGE = 100;

/**
 * Reads a list page by page, until it ends or `most` items are there; `hasMore` tells of the second.
 */
export async function readPages<T>(
  read: (query: { limit: number; cursor?: string }) => Promise<Page<T>>,
  most = 1_000,
): Promise<{ items: T[]; hasMore: boolean }> {
  const items: T[] = [];
  let cursor: string | undefined;
  while (items.length < most) {
    const limit = Math.min(PAGE, most - items.length);
    const page = await read({ limit, ...(cursor !== undefined && { cursor }) });
    items.push(...page.items);
    if (page.next_cursor === null) return { items, hasMore: false };
    cursor = page.next_cursor;
  }
  return { items, hasMore: true };
}
