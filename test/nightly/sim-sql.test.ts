import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { simulate } from "../sim/simulation.ts";
import { SimPostgres } from "../support/record/sim-postgres.ts";

/** Short ones, with hosts that die, pause and are cut off, and a record that fails. */
const SEEDS = [3, 17, 29];

describe("simulation on SQL", () => {
  let sql: SimPostgres;
  beforeAll(async () => {
    sql = await SimPostgres.start();
  });
  afterAll(() => sql.stop());

  it("sim: on the service's own SQL no word is lost, too, and each seed is the same story", async () => {
    for (const seed of SEEDS) {
      const stories = [await tell(seed), await tell(seed)];
      // Who of two that wait for a row goes first when it has a new version, PostgreSQL decides by
      // what its processes do meanwhile: on a busy machine one story in some ten goes on otherwise.
      if (new Set(stories).size === 2) stories.push(await tell(seed));
      expect(new Set(stories).size, `${seed}: ${stories}`).toBeLessThan(stories.length);
    }
  });

  async function tell(seed: number): Promise<string> {
    const { fault, story, fingerprint } = await simulate(seed, { kind: { sql } });
    const again = `again: npm run sim -- --record sql --seeds 1 --from ${seed}`;
    expect(fault, [fault?.message, ...story, again].join("\n")).toBeUndefined();
    return fingerprint;
  }
});
