import { fixedRandom } from "./fixed-random.ts";
import { joinAlike } from "./join-clusters.ts";
import { type SparseMatrix, smallestEigenvectors } from "./smallest-eigenvectors.ts";
import type { Similarities } from "./voice-vectors.ts";

/** Of each vector so many of its nearest count, as a share of all. */
const NEAREST_SHARE = 0.02;
/** But so many at least. */
const LEAST_NEAREST = 6;
/** Most clusters that are told apart. */
const MOST_CLUSTERS = 10;
/** Fewer vectors are of one voice: there is nothing to compare. */
const LEAST_VECTORS = 3;
/** Vectors this near by cosine are of one sound, as a recording that is played again; speech is never so like itself. */
const SAME_SOUND = 0.99;
const STARTS = 4;
const SEED = 7;
const MOST_ROUNDS = 50;

/**
 * Groups vectors of voices, whose number is not known: spectral clustering on the graph of each
 * vector's nearest ones, with as many clusters as the largest gap of the Laplacian's eigenvalues tells
 * (von Luxburg 2007). No threshold on similarities is needed for that, which differ from one room or
 * line to another. Clusters with the same mean are joined. Deterministic.
 *
 * @param similarities of vectors of unit length
 * @param turns for each vector the turn that it is of: those of one are alike in any case, and share sound
 * @returns for each vector the number of its cluster, from 0
 */
export function spectralClusters(similarities: Similarities, turns: readonly unknown[]): number[] {
  const originals = originalsIn(similarities);
  const firsts = [...new Set(originals)];
  if (firsts.length === similarities.length) return clustersOf(similarities, turns);
  const among = firsts.map((one, at) =>
    Float32Array.from(firsts.slice(0, at), (other) => similarities[one]?.[other] ?? 0),
  );
  const clusters = clustersOf(
    among,
    firsts.map((first) => turns[first]),
  );
  const places = new Map(firsts.map((first, at) => [first, at]));
  return originals.map((original) => clusters[places.get(original) ?? 0] ?? 0);
}

/**
 * For each vector the first one of the same sound. Its copies would be its nearest, and no voice would hold
 * together.
 */
function originalsIn(similarities: Similarities): number[] {
  const originals: number[] = [];
  for (const [one, row] of similarities.entries()) {
    const known = originals.findIndex(
      (original, other) => original === other && (row[other] as number) >= SAME_SOUND,
    );
    originals.push(known < 0 ? one : known);
  }
  return originals;
}

function clustersOf(similarities: Similarities, turns: readonly unknown[]): number[] {
  const size = similarities.length;
  if (size < LEAST_VECTORS) return similarities.map(() => 0);
  const most = Math.min(MOST_CLUSTERS, size - 1);
  const { values, vectors } = smallestEigenvectors(laplacian(similarities), most + 1);
  const count = largestGap(values, most);
  if (count === 1) return similarities.map(() => 0);
  const points = similarities.map((_, n) => {
    return vectors.slice(0, count).map((vector) => vector[n] ?? 0);
  });
  return joinAlike(similarities, turns, kMeans(points, count));
}

/** The Laplacian of the graph in which each vector is joined to its nearest ones. */
function laplacian(similarities: Similarities): SparseMatrix {
  const size = similarities.length;
  const nearest = Math.max(LEAST_NEAREST, Math.round(NEAREST_SHARE * size));
  const edges = similarities.map(() => new Map<number, number>());
  for (const [one, row] of nearestOf(similarities, Math.min(nearest, size - 1)).entries()) {
    for (const { other, likeness } of row) {
      // Half from each side: who is near to each other counts double.
      const weight = Math.max(0, likeness) / 2;
      edges[one]?.set(other, (edges[one].get(other) ?? 0) + weight);
      edges[other]?.set(one, (edges[other].get(one) ?? 0) + weight);
    }
  }
  return {
    diagonal: Float64Array.from(edges, (row) => [...row.values()].reduce((a, b) => a + b, 0)),
    rows: edges.map((row) => {
      const values = Float64Array.from(row.values(), (weight) => -weight);
      return { columns: Int32Array.from(row.keys()), values };
    }),
  };
}

interface Neighbour {
  other: number;
  likeness: number;
}

/** For each vector the `count` that are most like it, the likest first. */
function nearestOf(similarities: Similarities, count: number): Neighbour[][] {
  const nearest = similarities.map((): Neighbour[] => []);
  const offer = (to: Neighbour[] | undefined, other: number, likeness: number): void => {
    if (to === undefined) return;
    if (to.length === count && likeness <= (to[count - 1]?.likeness ?? 0)) return;
    let at = to.length;
    while (at > 0 && likeness > (to[at - 1]?.likeness ?? 0)) at -= 1;
    to.splice(at, 0, { other, likeness });
    if (to.length > count) to.pop();
  };
  for (const [one, row] of similarities.entries()) {
    for (let other = 0; other < one; other++) {
      const likeness = row[other] as number;
      offer(nearest[one], other, likeness);
      offer(nearest[other], one, likeness);
    }
  }
  return nearest;
}

/** Behind which of the first `most` ascending values the largest gap is. */
function largestGap(values: readonly number[], most: number): number {
  let [count, largest] = [1, Number.NEGATIVE_INFINITY];
  for (let n = 1; n <= most; n++) {
    const gap = (values[n] ?? 0) - (values[n - 1] ?? 0);
    if (gap > largest) [count, largest] = [n, gap];
  }
  return count;
}

type Point = readonly number[];

/** k-means from several starts that are far apart (Arthur and Vassilvitskii 2007); the best result. */
function kMeans(points: readonly Point[], count: number): number[] {
  const random = fixedRandom(SEED);
  let best = { clusters: points.map(() => 0), cost: Number.POSITIVE_INFINITY };
  for (let start = 0; start < STARTS; start++) {
    const found = settle(points, farApart(points, count, random));
    if (found.cost < best.cost) best = found;
  }
  return best.clusters;
}

function farApart(points: readonly Point[], count: number, random: () => number): Point[] {
  const chosen = [points[Math.floor(random() * points.length)] ?? []];
  while (chosen.length < count) {
    const distances = points.map((point) => nearest(point, chosen).distance);
    let left = random() * distances.reduce((sum, distance) => sum + distance, 0);
    const at = distances.findIndex((distance) => {
      left -= distance;
      return left <= 0;
    });
    chosen.push(points[Math.max(0, at)] ?? []);
  }
  return chosen;
}

function settle(
  points: readonly Point[],
  begin: readonly Point[],
): { clusters: number[]; cost: number } {
  let means = begin;
  let clusters = points.map(() => -1);
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const found = points.map((point) => nearest(point, means));
    const isSame = found.every(({ at }, n) => at === clusters[n]);
    clusters = found.map(({ at }) => at);
    if (isSame) break;
    means = means.map((mean, at) => meanOf(points.filter((_, n) => clusters[n] === at)) ?? mean);
  }
  const cost = points.reduce((sum, point) => sum + nearest(point, means).distance, 0);
  return { clusters, cost };
}

function meanOf(points: readonly Point[]): Point | undefined {
  return points[0]?.map((_, d) => points.reduce((sum, p) => sum + (p[d] ?? 0), 0) / points.length);
}

function nearest(point: Point, means: readonly Point[]): { at: number; distance: number } {
  let best = { at: 0, distance: Number.POSITIVE_INFINITY };
  for (const [at, mean] of means.entries()) {
    let distance = 0;
    for (let d = 0; d < point.length; d++) {
      const difference = (point[d] as number) - (mean[d] as number);
      distance += difference * difference;
    }
    if (distance < best.distance) best = { at, distance };
  }
  return best;
}
