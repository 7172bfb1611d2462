import { describe, expect, it } from "vitest";
import { MUTANTS } from "../sim/mutants.ts";
import { simulate } from "../sim/simulation.ts";

/** Each planted bug shows within so many seeds. */
const ENOUGH = 600;

describe("planted bugs", () => {
  for (const mutant of MUTANTS) {
    it(`sim: it finds out when ${mutant.name}`, async () => {
      for (let n = 0; n < ENOUGH; n += 1) {
        // Where it showed last, and from the first one on when it does so no longer.
        const seed = n === 0 ? mutant.shownBy : n;
        if ((await simulate(seed, { mutant })).fault !== undefined) return;
      }
      expect.unreachable(`${ENOUGH} seeds do not show it`);
    });
  }
});
