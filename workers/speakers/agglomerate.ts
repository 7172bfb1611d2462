/** Stretches of speech, and how alike any two are. */
export interface Stretches {
  /** Frames of speech of each stretch. */
  counts: readonly number[];
  /** Similarities, symmetric; those on the diagonal are not used. */
  similarities: readonly Float64Array[];
  /** Stretches that were joined from several know how alike those were. */
  within: readonly (Within | undefined)[];
}

/** Sums over pairs of stretches of one voice, each pair weighted by its frames. */
export interface Within {
  sum: number;
  weight: number;
}

/** When two groups are one voice. */
export interface MergeRule {
  /** Share of the looser group's own similarity that the similarity between groups must reach... */
  share: number;
  /** ... and what is added to it. */
  offset: number;
  /** Own similarity of a group of one stretch, which has none to measure. */
  lone: number;
  /** More than this is never asked for. */
  most: number;
}

interface Group extends Within {
  members: number[];
  count: number;
}

/**
 * Groups stretches from the bottom up, always the two groups whose mean similarity is the most above
 * what their voices ask for, until none is above it (average linkage). What is asked for follows
 * from how alike the stretches within the looser group are: recordings, and lively and even voices,
 * differ much in that, so that no one threshold fits all.
 *
 * `groups` are lists of indices that belong together already.
 */
export function agglomerate(
  stretches: Stretches,
  groups: readonly (readonly number[])[],
  rule: MergeRule,
): number[][] {
  const pairs = new Pairs(stretches, groups, rule);
  while (pairs.joinNearest());
  return pairs.groups();
}

/** The threshold that the mean similarity of two groups with these own similarities must reach. */
export function leastSimilarity(
  own: number | undefined,
  other: number | undefined,
  { share, offset, lone, most }: MergeRule,
): number {
  return Math.min(most, offset + share * Math.min(own ?? lone, other ?? lone));
}

/** The mean similarity within a group; undefined for one stretch. */
export function ownSimilarity({ sum, weight }: Within): number | undefined {
  return weight > 0 ? sum / weight : undefined;
}

/** Sum of the similarities between two lists of stretches, each pair weighted by its frames. */
export function sumBetween(
  { counts, similarities }: Pick<Stretches, "counts" | "similarities">,
  one: readonly number[],
  other: readonly number[],
): number {
  let sum = 0;
  for (const i of one) {
    const row = similarities[i];
    let own = 0;
    for (const j of other) if (i !== j) own += (counts[j] ?? 0) * (row?.[j] ?? 0);
    sum += own * (counts[i] ?? 0);
  }
  return sum;
}

/** Groups with the sums between any two, and for each the one that it would join first. */
class Pairs {
  readonly #rule: MergeRule;
  readonly #groups: Group[];
  readonly #sums: Float64Array[];
  readonly #nearest: { other: number; above: number }[];
  readonly #alive: Set<number>;

  constructor(stretches: Stretches, groups: readonly (readonly number[])[], rule: MergeRule) {
    this.#rule = rule;
    this.#groups = groups.map((members) => groupOf(stretches, members));
    this.#sums = groups.map(() => new Float64Array(groups.length));
    for (const [i, one] of groups.entries()) {
      for (const [j, other] of groups.slice(0, i).entries()) {
        this.#put(i, j, sumBetween(stretches, one, other));
      }
    }
    this.#alive = new Set(groups.keys());
    this.#nearest = groups.map((_, at) => this.#nearestTo(at));
  }

  groups(): number[][] {
    return [...this.#alive].map((at) => this.#groups[at]?.members ?? []);
  }

  /** Joins the two groups that most ask for it; false when none do. */
  joinNearest(): boolean {
    let [best, most] = [-1, 0];
    for (const at of this.#alive) {
      const above = this.#nearest[at]?.above ?? -1;
      if (above < most || (above === most && best >= 0)) continue;
      [best, most] = [at, above];
    }
    const other = this.#nearest[best]?.other ?? -1;
    if (best < 0 || other < 0) return false;
    this.#join(Math.min(best, other), Math.max(best, other));
    return true;
  }

  #join(kept: number, gone: number): void {
    const [into, from] = [this.#groups[kept], this.#groups[gone]];
    if (!into || !from) return;
    into.sum += from.sum + (this.#sums[kept]?.[gone] ?? 0);
    into.weight += from.weight + into.count * from.count;
    into.members.push(...from.members);
    into.count += from.count;
    this.#alive.delete(gone);
    for (const other of this.#alive) {
      if (other === kept) continue;
      this.#put(kept, other, (this.#sums[kept]?.[other] ?? 0) + (this.#sums[gone]?.[other] ?? 0));
    }
    for (const at of this.#alive) {
      const near = this.#nearest[at];
      const isStale = at === kept || near?.other === kept || near?.other === gone;
      if (isStale) this.#nearest[at] = this.#nearestTo(at);
      else if (near && this.#above(at, kept) > near.above) {
        this.#nearest[at] = { other: kept, above: this.#above(at, kept) };
      }
    }
  }

  #nearestTo(at: number): { other: number; above: number } {
    let nearest = { other: -1, above: Number.NEGATIVE_INFINITY };
    for (const other of this.#alive) {
      if (other === at) continue;
      const above = this.#above(at, other);
      if (above > nearest.above) nearest = { other, above };
    }
    return nearest;
  }

  /** By how much two groups are more alike than one voice asks for. */
  #above(i: number, j: number): number {
    const [one, other] = [this.#groups[i], this.#groups[j]];
    if (!one || !other) return Number.NEGATIVE_INFINITY;
    const mean = (this.#sums[i]?.[j] ?? 0) / Math.max(1, one.count * other.count);
    return mean - leastSimilarity(ownSimilarity(one), ownSimilarity(other), this.#rule);
  }

  #put(i: number, j: number, sum: number): void {
    const [row, column] = [this.#sums[i], this.#sums[j]];
    if (row) row[j] = sum;
    if (column) column[i] = sum;
  }
}

function groupOf(stretches: Stretches, members: readonly number[]): Group {
  const { counts, within } = stretches;
  const count = members.reduce((sum, i) => sum + (counts[i] ?? 0), 0);
  const squares = members.reduce((sum, i) => sum + (counts[i] ?? 0) ** 2, 0);
  const known = members.flatMap((i) => within[i] ?? []);
  return {
    members: [...members],
    count,
    sum: sumBetween(stretches, members, members) / 2 + known.reduce((all, { sum }) => all + sum, 0),
    weight: (count * count - squares) / 2 + known.reduce((all, { weight }) => all + weight, 0),
  };
}
