import type { Similarities } from "./voice-vectors.ts";

/** Clusters that are alike by more than this share of how like each is to itself are of one voice. */
const ONE_VOICE = 0.85;
/**
 * Or by this share where their subsegments are this near by cosine on average, as those of two people never were in the
 * end of the recordings that this was chosen on (0.475 at most): the voice of one who speaks for long has several
 * manners, each of which is like itself.
 */
const ONE_NEAR_VOICE = 0.75;
const NEAR = 0.54;
/**
 * Or where they are so far on the way from how like they are to the others to how like each is to itself from one turn
 * to the next: the same voice through another microphone is less like itself, but no more like anybody else. There it
 * was 0.75 or more, and of two people who sound alike on a telephone 0.67 at most.
 */
const APART_FROM_OTHERS = 0.71;
/** How like two subsegments of one voice usually are by cosine, as if so many pairs were known. */
const USUAL_SIMILARITY = 0.5;
const USUAL_PAIRS = 3;
/** What is less would let noise divide by nothing. */
const LEAST_WITHIN = 0.05;

/**
 * Joins the clusters that are of one voice, the likest first.
 *
 * @param similarities of the vectors, by cosine
 * @param turns for each vector the turn that it is of
 * @param clusters for each vector the number of its cluster
 * @returns for each vector the number of its cluster: that of the first of those that were joined
 */
export function joinAlike(
  similarities: Similarities,
  turns: readonly unknown[],
  clusters: readonly number[],
): number[] {
  let joined = [...clusters];
  for (;;) {
    const pair = likestPair(new ClusterLikeness(similarities, turns, joined));
    if (pair === undefined) return joined;
    const [kept, gone] = pair;
    joined = joined.map((cluster) => (cluster === gone ? kept : cluster));
  }
}

/** The two clusters that are most alike, if they are of one voice. */
function likestPair(likeness: ClusterLikeness): readonly [number, number] | undefined {
  const { clusters } = likeness;
  let [likest, pair]: [number, readonly [number, number] | undefined] = [0, undefined];
  for (const [at, one] of clusters.entries()) {
    for (const other of clusters.slice(0, at)) {
      const between = likeness.between(one, other);
      const share = between / Math.sqrt(likeness.within(one) * likeness.within(other));
      const isOne =
        share > (between >= NEAR ? ONE_NEAR_VOICE : ONE_VOICE) ||
        wayFromOthers(likeness, one, other) >= APART_FROM_OTHERS;
      if (isOne && share > likest) [likest, pair] = [share, [other, one]];
    }
  }
  return pair;
}

/**
 * How far two clusters are on the way from how like they are to the others, 0, to how like each is to itself from turn to
 * turn, 1. 0 where there are no others.
 */
function wayFromOthers(likeness: ClusterLikeness, one: number, other: number): number {
  const others = likeness.clusters.filter((each) => each !== one && each !== other);
  if (others.length === 0) return 0;
  const toOthers = others.flatMap((each) => [
    likeness.between(one, each),
    likeness.between(other, each),
  ]);
  const usual = toOthers.reduce((sum, each) => sum + each, 0) / toOthers.length;
  const own = Math.sqrt(likeness.betweenTurns(one) * likeness.betweenTurns(other));
  return (likeness.between(one, other) - usual) / Math.max(LEAST_WITHIN, own - usual);
}

/** How like clusters are to one another and to themselves, by the mean cosine of their vectors' pairs. */
class ClusterLikeness {
  readonly clusters: readonly number[];
  readonly #size: number;
  readonly #sums: Float64Array;
  readonly #pairs: Float64Array;
  /** Of pairs that are of two turns, by cluster: those of one turn are alike in any case, and share sound. */
  readonly #turnSums: Float64Array;
  readonly #turnPairs: Float64Array;

  constructor(similarities: Similarities, turns: readonly unknown[], clusters: readonly number[]) {
    this.clusters = [...new Set(clusters)].sort((a, b) => a - b);
    this.#size = Math.max(...clusters) + 1;
    this.#sums = new Float64Array(this.#size ** 2);
    this.#pairs = new Float64Array(this.#size ** 2);
    this.#turnSums = new Float64Array(this.#size);
    this.#turnPairs = new Float64Array(this.#size);
    for (const [one, row] of similarities.entries()) {
      const own = clusters[one] as number;
      for (let other = 0; other < one; other++) {
        const its = clusters[other] as number;
        const likeness = row[other] as number;
        const at = this.#place(own, its);
        this.#sums[at] = (this.#sums[at] as number) + likeness;
        this.#pairs[at] = (this.#pairs[at] as number) + 1;
        if (own !== its || turns[one] === turns[other]) continue;
        this.#turnSums[own] = (this.#turnSums[own] as number) + likeness;
        this.#turnPairs[own] = (this.#turnPairs[own] as number) + 1;
      }
    }
  }

  between(one: number, other: number): number {
    const at = this.#place(one, other);
    return (this.#sums[at] as number) / (this.#pairs[at] as number);
  }

  within(cluster: number): number {
    const at = this.#place(cluster, cluster);
    return likenessWithin(this.#sums[at] as number, this.#pairs[at] as number);
  }

  /** As `within`, of one turn to another. */
  betweenTurns(cluster: number): number {
    return likenessWithin(this.#turnSums[cluster] as number, this.#turnPairs[cluster] as number);
  }

  #place(one: number, other: number): number {
    return Math.max(one, other) * this.#size + Math.min(one, other);
  }
}

/**
 * How like vectors of one voice are among themselves, by the sum of their pairs' cosines. Of few vectors that is
 * hardly known, so that what is usual counts as some pairs more.
 */
export function likenessWithin(sum: number, pairs: number): number {
  const usual = USUAL_PAIRS * USUAL_SIMILARITY;
  return Math.max(LEAST_WITHIN, (sum + usual) / (pairs + USUAL_PAIRS));
}
