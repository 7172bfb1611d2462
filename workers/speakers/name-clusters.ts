/** What is grouped: the cluster that it has, -1 for none yet, and how much it weighs. */
interface Grouped {
  cluster: number;
  seconds: number;
}

/**
 * Gives new groups the names of old clusters. A cluster's name goes to the group that has most of it;
 * a group that has most of several takes the oldest, and one without any takes an unused name of its
 * members, or a new one.
 *
 * @param items in order of time
 * @param groups for each item the number of its group
 * @param next the first name that was never used
 * @returns for each item its cluster
 */
export function nameClusters(
  items: readonly Grouped[],
  groups: readonly number[],
  next: number,
): number[] {
  const shares = sharesOf(items, groups);
  const names = new Map<number, number>();
  const taken = new Set<number>();
  for (const [cluster, group] of homesOf(shares)) {
    if (cluster >= (names.get(group) ?? Number.POSITIVE_INFINITY)) continue;
    names.set(group, cluster);
  }
  for (const name of names.values()) taken.add(name);
  let free = next;
  // In order of time, so that whoever speaks first has the smaller number.
  for (const group of new Set(groups)) {
    if (names.has(group)) continue;
    const spare = [...(shares.get(group)?.keys() ?? [])].filter((name) => !taken.has(name));
    const name = spare.length > 0 ? Math.min(...spare) : free++;
    names.set(group, name);
    taken.add(name);
  }
  return groups.map((group) => names.get(group) ?? -1);
}

/** Seconds of each old cluster in each group. */
function sharesOf(
  items: readonly Grouped[],
  groups: readonly number[],
): Map<number, Map<number, number>> {
  const shares = new Map<number, Map<number, number>>();
  for (const [n, { cluster, seconds }] of items.entries()) {
    const group = groups[n] ?? 0;
    const own = shares.get(group) ?? new Map<number, number>();
    shares.set(group, own);
    if (cluster >= 0) own.set(cluster, (own.get(cluster) ?? 0) + seconds);
  }
  return shares;
}

/** The group that has most of each cluster. */
function homesOf(shares: ReadonlyMap<number, ReadonlyMap<number, number>>): Map<number, number> {
  const homes = new Map<number, { group: number; seconds: number }>();
  for (const [group, own] of shares) {
    for (const [cluster, seconds] of own) {
      if (seconds > (homes.get(cluster)?.seconds ?? 0)) homes.set(cluster, { group, seconds });
    }
  }
  return new Map([...homes].map(([cluster, { group }]) => [cluster, group]));
}
