import type { DatabaseTransactionConnection, FragmentSqlToken } from "slonik";

/**
 * One statement that changes rows, written so that several of them can be parts of one: none of
 * them sees what another one writes.
 */
export interface Change {
  /** Tables that it writes, or parts of tables that no other change touches. */
  writes: readonly string[];
  /** Tables in which it must see what the changes before it wrote. */
  reads?: readonly string[];
  /** `when` is the condition under which it may write anything. */
  sql(when: FragmentSqlToken): FragmentSqlToken;
}

/** What takes several statements, each of which sees what those before it wrote. */
type Step = (tx: DatabaseTransactionConnection) => Promise<void>;

export type Work = Change | Step;

/** In their order: changes that go to the database as one statement, and steps. */
export type Wave = readonly Change[] | Step;

/** As few as the order allows; the first one is always of changes, maybe of none. */
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
