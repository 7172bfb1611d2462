/** How like vectors are: row i has the cosines of i and of each before it. */
export type Similarities = readonly Float32Array[];

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
