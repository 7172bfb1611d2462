import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SimPostgres } from "../support/record/sim-postgres.ts";
import { simulate } from "./simulation.ts";

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
      const [first, second] = [
        await simulate(seed, { kind: { sql } }),
        await simulate(seed, { kind: { sql } }),
      ];
      const again = `again: npm run sim -- --record sql --seeds 1 --from ${seed}`;
      const story = [first.fault?.message, ...first.story, again].join("\n");
      expect(first.fault, story).toBeUndefined();
      expect(second.fingerprint).toBe(first.fingerprint);
    }
  });
});
