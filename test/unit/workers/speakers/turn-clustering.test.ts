import { describe, expect, it } from "vitest";
import { turnClusters } from "../../../../workers/speakers/turn-clustering.ts";

/** Cosines of subsegments: `within` a voice, `between` two. */
function similarities(voices: readonly number[], within: number, between: number): Float32Array[] {
  return voices.map((voice, n) =>
    Float32Array.from(voices.slice(0, n), (other) => (other === voice ? within : between)),
  );
}

describe("clustering by turns", () => {
  it("clustering by turns: two people with a sentence each are two", () => {
    const voices = [1, 1, 1, 2, 2];
    const turns = ["a", "a", "a", "b", "b"];
    expect(turnClusters(similarities(voices, 0.6, 0.1), turns)).toEqual([0, 0, 0, 1, 1]);
  });

  it("clustering by turns: who speaks again is the same, and one turn is one voice", () => {
    const voices = [1, 2, 1, 3, 3];
    const turns = ["a", "b", "c", "d", "d"];
    expect(turnClusters(similarities(voices, 0.5, 0.2), turns)).toEqual([0, 1, 0, 3, 3]);
  });

  it("clustering by turns: subsegments of a turn that are unlike stay together, and count by their mean", () => {
    const turns = ["a", "a", "b"];
    const rows = [[], [0.1], [0.7, 0.1]].map((row) => Float32Array.from(row));
    expect(turnClusters(rows, turns)).toEqual([0, 0, 0]);
    const unlike = [[], [0.1], [0.4, -0.1]].map((row) => Float32Array.from(row));
    expect(turnClusters(unlike, turns)).toEqual([0, 0, 1]);
  });

  it("clustering by turns: nothing has no clusters, and one subsegment has one", () => {
    expect(turnClusters([], [])).toEqual([]);
    expect(turnClusters([new Float32Array(0)], ["a"])).toEqual([0]);
  });
});
