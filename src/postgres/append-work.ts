import type { DatabaseTransactionConnection, FragmentSqlToken } from "slonik";

/**
 * A statement that changes rows, written so that several of them can be parts of one statement.
 * Such parts do not see each other's writes.
 */
export interface Change {
  /** Tables that it writes, or parts of tables that no other change touches. */
  writes: readonly string[];
  /** Tables in which it must see the writes of earlier changes. */
  reads?: readonly string[];
  /** `when` is the condition under which it may write. */
  sql(when: FragmentSqlToken): FragmentSqlToken;
}

/** Work that needs several statements, each of which sees the writes of those before it. */
type Step = (tx: DatabaseTransactionConnection) => Promise<void>;

export type Work = Change | Step;

/** A part of the work that is done at once: changes that are sent as one statement, or a step. */
export type Wave = readonly Change[] | Step;

/**
 * Groups work into as few waves as its order allows. The first wave always consists of changes,
 * possibly none.
 */
export function wavesOf(work: readonly Work[]): [readonly Change[], ...Wave[]] {
  const first: Change[] = [];
  const later: (Change[] | Step)[] = [];
  let open: Change[] | undefined = first;
  let written = new Set<string>();
  for (const each of work) {
    if (typeof each === "function") {
      later.push(each);
      open = undefined;
      continue;
    }
    const { writes, reads = [] } = each;
    if (open === undefined || [...writes, ...reads].some((table) => written.has(table))) {
      open = [];
      later.push(open);
      written = new Set();
    }
    open.push(each);
    for (const table of writes) written.add(table);
  }
  return [first, ...later];
}
