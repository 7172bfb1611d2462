import type { Similarities } from "./voice-vectors.ts";

/** Groups of turns that are less alike are of several voices, by mean cosine. */
const ONE_VOICE = 0.35;

/**
 * Groups vectors of voices of which there are too few for a graph: turns, whose vectors stay together,
 * are joined by average linkage (UPGMA, Sokal and Michener 1958), the likest first, as long as they are
 * alike enough.
 *
 * @param similarities of the vectors, by cosine
 * @param turns for each vector the turn that it is of
 * @returns for each vector the number of its cluster: that of the first turn in it, from 0
 */
export function turnClusters(similarities: Similarities, turns: readonly unknown[]): number[] {
  const names = [...new Set(turns)];
  let clusters = turns.map((turn) => names.indexOf(turn));
  for (;;) {
    const pair = likestPair(similarities, clusters, names.length);
    if (pair === undefined) return clusters;
    const [kept, gone] = pair;
    clusters = clusters.map((cluster) => (cluster === gone ? kept : cluster));
  }
}

/** The two clusters that are most alike, if they are of one voice. */
function likestPair(
  similarities: Similarities,
  clusters: readonly number[],
  count: number,
): readonly [number, number] | undefined {
  const sums = new Float64Array(count ** 2);
  const pairs = new Float64Array(count ** 2);
  for (const [one, row] of similarities.entries()) {
    for (const [other, likeness] of row.entries()) {
      const [a, b] = [clusters[one] as number, clusters[other] as number];
      const at = Math.max(a, b) * count + Math.min(a, b);
      sums[at] = (sums[at] as number) + likeness;
      pairs[at] = (pairs[at] as number) + 1;
    }
  }
  let [likest, pair]: [number, readonly [number, number] | undefined] = [ONE_VOICE, undefined];
  for (let one = 1; one < count; one++) {
    for (let other = 0; other < one; other++) {
      const at = one * count + other;
      const likeness = (sums[at] as number) / (pairs[at] as number);
      if (likeness > likest) [likest, pair] = [likeness, [other, one]];
    }
  }
  return pair;
}
