import { describe, expect, it } from "vitest";
import { smallestEigenvectors } from "../../../../workers/speakers/smallest-eigenvectors.ts";
import { spectralClusters } from "../../../../workers/speakers/spectral-clustering.ts";
import { cosine, toUnitLength } from "../../../../workers/speakers/voice-vectors.ts";
import { SeededRandom } from "../../../support/seeded-random.ts";

const SIZE = 64;

/** Vectors around an axis for each voice, in turns; cosines within a voice are about `within`. */
function voices(counts: readonly number[], within: number, shared: number, seed: number) {
  const random = new SeededRandom(seed);
  const normal = () =>
    Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
  const labels = counts.flatMap((count, voice) => Array.from({ length: count }, () => voice));
  for (let at = labels.length - 1; at > 0; at--) {
    const other = random.below(at + 1);
    [labels[at], labels[other]] = [labels[other] ?? 0, labels[at] ?? 0];
  }
  const spread = Math.sqrt((1 / within - 1) / SIZE);
  const vectors = labels.map((voice) =>
    toUnitLength(
      Float32Array.from({ length: SIZE }, (_, at) => {
        const own = at === voice ? Math.sqrt(1 - shared) : 0;
        // What all share, as of one telephone line.
        const common = at === SIZE - 1 ? Math.sqrt(shared) : 0;
        return own + common + spread * normal();
      }),
    ),
  );
  return { labels, vectors };
}

/**
 * Four voices, of which the first two are as alike as one through two microphones: cosines within a voice are about 0.6,
 * between the first two 0.46, and `others` to the rest.
 */
function besideOthers(others: number, seed: number) {
  const { labels, vectors } = voices([24, 20, 22, 18], 0.6, 0, seed);
  const mixed = vectors.map((vector, n) => {
    const shared = (labels[n] ?? 0) < 2 ? 0.46 : others;
    const own = vector.map((value, at) => value * (at < 4 ? Math.sqrt((0.6 - shared) / 0.6) : 1));
    own[SIZE - 1] = (own[SIZE - 1] ?? 0) + Math.sqrt(others);
    own[SIZE - 2] = (own[SIZE - 2] ?? 0) + Math.sqrt(shared - others);
    return toUnitLength(own);
  });
  return { labels, vectors: mixed };
}

function clustersOf(vectors: readonly Float32Array[]): number[] {
  const similarities = vectors.map((one, n) =>
    Float32Array.from(vectors.slice(0, n), (other) => cosine(one, other)),
  );
  return spectralClusters(similarities, [...vectors.keys()]);
}

/** Pairs of which one grouping says that they are together and the other that they are not. */
function disagreements(one: readonly number[], other: readonly number[]): number {
  let count = 0;
  for (let i = 0; i < one.length; i++) {
    for (let j = 0; j < i; j++) {
      if ((one[i] === one[j]) !== (other[i] === other[j])) count += 1;
    }
  }
  return count;
}

describe("spectral clustering", () => {
  it.each([
    ["two", [30, 30]],
    ["three, one of whom says little", [40, 25, 9]],
    ["six", [20, 18, 16, 14, 12, 12]],
    ["ten", [15, 15, 15, 15, 15, 15, 15, 15, 15, 15]],
  ])("clustering: %s voices are found, however alike the line makes them", (_, counts) => {
    for (const shared of [0.1, 0.35]) {
      const { labels, vectors } = voices(counts, 0.55, shared, 5);
      const found = clustersOf(vectors);
      expect(new Set(found).size).toBe(counts.length);
      expect(disagreements(found, labels)).toBe(0);
    }
  });

  it("clustering: one voice is one, whether of much speech or of little", () => {
    for (const count of [1, 2, 3, 5, 10, 60, 300]) {
      const { vectors } = voices([count], 0.5, 0.2, count);
      expect(new Set(clustersOf(vectors)).size, `${count}`).toBe(1);
    }
  });

  it.each([
    ["one", "of several manners", 0.72, 0.8],
    ["three", "which the line makes alike", 0.68, 0.7],
    ["three", "each of which is much like itself", 0.9, 0.65],
  ])("clustering: speech that is alike is of %s, %s", (count, _, within, shared) => {
    for (const seed of [1, 2, 3]) {
      const { vectors } = voices([60, 25, 20], within, shared, seed);
      expect(new Set(clustersOf(vectors)).size).toBe(count === "one" ? 1 : 3);
    }
  });

  it.each([
    ["one voice through two microphones is one", 0.1, true],
    ["two who sound alike, as everybody does on this line, are two", 0.25, false],
  ])("clustering: beside others %s", (_, others, isOne) => {
    for (const seed of [1, 2, 3]) {
      const { labels, vectors } = besideOthers(others, seed);
      const wanted = isOne ? labels.map((label) => Math.max(1, label)) : labels;
      expect(disagreements(clustersOf(vectors), wanted), `${seed}`).toBe(0);
    }
  });

  it("clustering: a recording that is played again and again is of the voices that it is of", () => {
    for (const seed of [1, 2, 3]) {
      const { labels, vectors } = voices([9, 8, 7], 0.55, 0.2, seed);
      const random = new SeededRandom(seed);
      const played = Array.from({ length: 8 }, () =>
        // Never quite the same, as it begins at another sample.
        vectors.map((each) => toUnitLength(each.map((value) => value + 0.02 * random.next()))),
      ).flat();
      const found = clustersOf(played);
      expect(new Set(found).size).toBe(3);
      const all = Array.from({ length: 8 }, () => labels).flat();
      expect(disagreements(found, all)).toBe(0);
    }
  });

  it("clustering: the same vectors give the same, and nothing gives nothing", () => {
    const { vectors } = voices([20, 20], 0.5, 0.2, 1);
    expect(clustersOf(vectors)).toEqual(clustersOf(vectors));
    expect(clustersOf([])).toEqual([]);
  });
});

describe("smallest eigenvectors", () => {
  it("eigenvectors: of a ring are those that are known, those that occur twice among them", () => {
    const size = 200;
    const rows = Array.from({ length: size }, (_, n) => ({
      columns: Int32Array.from([(n + 1) % size, (n + size - 1) % size]),
      values: Float64Array.from([-1, -1]),
    }));
    const { values, vectors } = smallestEigenvectors(
      { diagonal: new Float64Array(size).fill(2), rows },
      5,
    );
    const known = [0, 1, 1, 2, 2].map((k) => 2 - 2 * Math.cos((2 * Math.PI * k) / size));
    for (const [n, value] of values.entries()) expect(value).toBeCloseTo(known[n] ?? -1, 4);
    for (const vector of vectors) {
      expect(vector.reduce((sum, each) => sum + each * each, 0)).toBeCloseTo(1, 6);
    }
  });

  it("eigenvectors: parts that nothing joins have a 0 each", () => {
    const parts = 4;
    const size = 100;
    const rows = Array.from({ length: size }, (_, n) => {
      const others = Array.from({ length: size }, (_, m) => m).filter(
        (m) => m !== n && m % parts === n % parts,
      );
      return {
        columns: Int32Array.from(others),
        values: new Float64Array(others.length).fill(-1),
      };
    });
    const diagonal = Float64Array.from(rows, ({ columns }) => columns.length);
    const { values } = smallestEigenvectors({ diagonal, rows }, parts + 1);
    for (const value of values.slice(0, parts)) expect(Math.abs(value)).toBeLessThan(1e-6);
    expect(values[parts]).toBeGreaterThan(1);
  });
});
