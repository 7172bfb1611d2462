import { fixedRandom } from "./fixed-random.ts";
import { type SparseMatrix, smallestEigenvectors } from "./smallest-eigenvectors.ts";

/** Of each vector so many of its nearest count, as a share of all. */
const NEAREST_SHARE = 0.02;
/** But so many at least. */
const LEAST_NEAREST = 6;
const MOST_CLUSTERS = 10;
/** Clusters that are alike by more than this share are of one voice. */
const ONE_VOICE = 0.85;
/**
 * Or by this share where their subsegments are this near by cosine on average, as those of two people never were in the
 * end of the recordings that this was chosen on (0.475 at most): the voice of one who speaks for long has several
 * manners, each of which is like itself.
 */
const ONE_NEAR_VOICE = 0.75;
const NEAR = 0.54;
/** How like two subsegments of one voice usually are by cosine, as if so many pairs were known. */
const USUAL_SIMILARITY = 0.5;
const USUAL_PAIRS = 3;
/** What is less would let noise divide by nothing. */
const LEAST_WITHIN = 0.05;
/** Fewer vectors are of one voice: there is nothing to compare. */
const LEAST_VECTORS = 3;
/** Vectors this near by cosine are of one sound, as a recording that is played again; speech is never so like itself. */
const SAME_SOUND = 0.99;
const STARTS = 4;
const SEED = 7;
const MOST_ROUNDS = 50;

/** How like vectors are: row i has the cosines of i and of each before it. */
export type Similarities = readonly Float32Array[];

/**
 * Groups vectors of voices, whose number is not known: spectral clustering on the graph of each
 * vector's nearest ones, with as many clusters as the largest gap of the Laplacian's eigenvalues tells
 * (von Luxburg 2007). No threshold on similarities is needed for that, which differ from one room or
 * line to another. Clusters with the same mean are joined. Deterministic.
 *
 * @param similarities of vectors of unit length
 * @returns for each vector the number of its cluster, from 0
 */
export function spectralClusters(similarities: Similarities): number[] {
  const originals = originalsIn(similarities);
  const firsts = [...new Set(originals)];
  if (firsts.length === similarities.length) return clustersOf(similarities);
  const among = firsts.map((one, at) =>
    Float32Array.from(firsts.slice(0, at), (other) => similarities[one]?.[other] ?? 0),
  );
  const clusters = clustersOf(among);
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

function clustersOf(similarities: Similarities): number[] {
  const size = similarities.length;
  if (size < LEAST_VECTORS) return similarities.map(() => 0);
  const most = Math.min(MOST_CLUSTERS, size - 1);
  const { values, vectors } = smallestEigenvectors(laplacian(similarities), most + 1);
  const count = largestGap(values, most);
  if (count === 1) return similarities.map(() => 0);
  const points = similarities.map((_, n) => {
    return vectors.slice(0, count).map((vector) => vector[n] ?? 0);
  });
  return joinAlike(similarities, kMeans(points, count));
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

/** Joins the clusters that are of one voice, the likest first. */
function joinAlike(similarities: Similarities, clusters: readonly number[]): number[] {
  let joined = [...clusters];
  for (;;) {
    const pair = likestPair(betweenClusters(similarities, joined));
    if (pair === undefined) return joined;
    const [kept, gone] = pair;
    joined = joined.map((cluster) => (cluster === gone ? kept : cluster));
  }
}

/** Sums over pairs, one of each of two clusters: at `one * MOST_CLUSTERS + other`, both ways. */
interface Between {
  sums: Float64Array;
  pairs: Float64Array;
}

function betweenClusters(similarities: Similarities, clusters: readonly number[]): Between {
  const sums = new Float64Array(MOST_CLUSTERS ** 2);
  const pairs = new Float64Array(MOST_CLUSTERS ** 2);
  for (const [one, row] of similarities.entries()) {
    const own = clusters[one] as number;
    for (let other = 0; other < one; other++) {
      const its = clusters[other] as number;
      for (const at of own === its
        ? [own * MOST_CLUSTERS + own]
        : [own * MOST_CLUSTERS + its, its * MOST_CLUSTERS + own]) {
        sums[at] = (sums[at] as number) + (row[other] as number);
        pairs[at] = (pairs[at] as number) + 1;
      }
    }
  }
  return { sums, pairs };
}

/**
 * How like vectors of one voice are among themselves, by the sum of their pairs' cosines. Of few vectors that is
 * hardly known, so that what is usual counts as some pairs more.
 */
export function likenessWithin(sum: number, pairs: number): number {
  const usual = USUAL_PAIRS * USUAL_SIMILARITY;
  return Math.max(LEAST_WITHIN, (sum + usual) / (pairs + USUAL_PAIRS));
}

/**
 * The two clusters that are most alike, if they are of one voice: how like vectors of both are, as a
 * share of how like vectors of each are among themselves.
 */
function likestPair({ sums, pairs }: Between): readonly [number, number] | undefined {
  const within = (cluster: number): number => {
    const at = cluster * MOST_CLUSTERS + cluster;
    return likenessWithin(sums[at] as number, pairs[at] as number);
  };
  let [likest, pair]: [number, readonly [number, number] | undefined] = [0, undefined];
  for (let one = 0; one < MOST_CLUSTERS; one++) {
    for (let other = 0; other < one; other++) {
      const at = one * MOST_CLUSTERS + other;
      if (pairs[at] === 0) continue;
      const between = (sums[at] as number) / (pairs[at] as number);
      const likeness = between / Math.sqrt(within(one) * within(other));
      const least = between >= NEAR ? ONE_NEAR_VOICE : ONE_VOICE;
      if (likeness > Math.max(least, likest)) [likest, pair] = [likeness, [other, one]];
    }
  }
  return pair;
}

/** The means of the clusters' vectors, of unit length; those of cluster -1 count for none. */
export function clusterMeans(
  vectors: readonly Float32Array[],
  clusters: readonly number[],
): Map<number, Float32Array> {
  const sums = new Map<number, Float32Array>();
  for (const [n, vector] of vectors.entries()) {
    const cluster = clusters[n] ?? -1;
    if (cluster < 0) continue;
    const sum = sums.get(cluster);
    if (sum === undefined) sums.set(cluster, Float32Array.from(vector));
    else for (let at = 0; at < sum.length; at++) sum[at] = (sum[at] ?? 0) + (vector[at] ?? 0);
  }
  return new Map([...sums].map(([cluster, sum]) => [cluster, toUnitLength(sum)]));
}

export function toUnitLength(vector: Float32Array): Float32Array {
  const length = Math.sqrt(cosine(vector, vector));
  return length === 0 ? vector : vector.map((value) => value / length);
}

/** Of vectors of unit length. */
export function cosine(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < a.length; at++) sum += (a[at] as number) * (b[at] as number);
  return sum;
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
