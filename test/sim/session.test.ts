import { describe, expect, it } from "vitest";
import { MUTANTS } from "./mutants.ts";
import { runScenario } from "./scenario.ts";

const SEEDS = Number(process.env.SIM_SEEDS ?? 600);
/** Within so many seeds each planted bug must show; the slowest needs about 60. */
const HUNT = 600;

/**
 * Seeds that once failed. All of them: an activation that was put away while
 * its last append failed kept a snapshot of what never became durable.
 */
const KEPT = [782, 2355, 2532];

describe("simulation", () => {
  it(`simulation: ${SEEDS} seeds of crashes, rivals, lost and late work tell one story`, async () => {
    const sum = { refused: 0, crashes: 0, gaps: 0, redos: 0 };
    for (const seed of [...KEPT, ...Array.from({ length: SEEDS }, (_, n) => n + 1)]) {
      const { fault, ...figures } = await runScenario(seed);
      if (fault !== undefined) {
        const replay = `npm run sim -- --seeds 1 --from ${seed}`;
        throw new Error(`seed ${seed} (${replay}): ${fault.message}`, { cause: fault });
      }
      for (const name of Object.keys(sum) as (keyof typeof sum)[]) sum[name] += figures[name];
    }
    // Rivals really met, hosts really died, and it was not all plain sailing.
    expect(sum.refused).toBeGreaterThan(SEEDS / 2);
    expect(sum.crashes).toBeGreaterThan(SEEDS / 2);
    expect(sum.gaps).toBeGreaterThan(SEEDS / 4);
    expect(sum.redos).toBeGreaterThan(SEEDS / 20);
  });

  it.each(MUTANTS)("simulation: finds the planted bug: $name", async (mutant) => {
    for (let seed = 1; seed <= HUNT; seed += 1) {
      if ((await runScenario(seed, mutant)).fault !== undefined) return;
    }
    throw new Error(`not found within ${HUNT} seeds`);
  });
});
