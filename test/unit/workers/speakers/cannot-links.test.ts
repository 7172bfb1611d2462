import { describe, expect, it } from "vitest";
import { withCannotLinks } from "../../../../workers/speakers/cannot-links.ts";

/** Cosines of subsegments of these voices. */
function cosines(voices: readonly number[], within = 0.57, between = 0.24): Float32Array[] {
  return voices.map((voice, n) =>
    Float32Array.from(voices.slice(0, n), (other) => (other === voice ? within : between)),
  );
}

describe("cannot-link constraints", () => {
  const voices = [0, 0, 0, 1, 1, 1];

  it("cannot links: two that are unlike stay two, whatever the eigenvalues say, and what is new goes to its own", () => {
    const rows = cosines([...voices, 1, 0]);
    expect(withCannotLinks(rows, Array(8).fill(0), [...voices, -1, -1])).toEqual([...voices, 1, 0]);
    // Groups of others keep their numbers.
    const four = cosines([...voices, 2, 2]);
    const groups = [0, 0, 0, 0, 0, 0, 1, 1];
    expect(withCannotLinks(four, groups, [4, 4, 4, 2, 2, 2, 3, 3])).toEqual([
      0, 0, 0, 2, 2, 2, 1, 1,
    ]);
  });

  it("cannot links: one that was taken for two is joined", () => {
    const rows = cosines([0, 0, 0, 0, 0, 0]);
    expect(withCannotLinks(rows, Array(6).fill(0), voices)).toEqual(Array(6).fill(0));
  });

  it("cannot links: what was one subsegment, or has most of its speech elsewhere, keeps nothing apart", () => {
    const rows = cosines([0, 0, 0, 1]);
    expect(withCannotLinks(rows, [0, 0, 0, 0], [0, 0, 0, 1])).toEqual([0, 0, 0, 0]);
    const groups = [0, 0, 0, 0, 0, 1, 1, 1];
    const moved = cosines([0, 0, 0, 1, 1, 1, 1, 1]);
    expect(withCannotLinks(moved, groups, [0, 0, 0, 1, 1, 1, 1, 1])).toEqual(groups);
    expect(withCannotLinks([], [], [])).toEqual([]);
  });
});
