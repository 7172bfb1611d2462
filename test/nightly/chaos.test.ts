import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runChaos } from "../chaos/chaos-run.ts";
import { FEW_STORIES } from "../chaos/stories.ts";
import { ChaosCluster } from "../support/chaos-cluster.ts";

describe("chaos", () => {
  let cluster: ChaosCluster;
  beforeAll(async () => {
    cluster = await ChaosCluster.start({ skews: { host1: 600_000 } });
  });
  afterAll(() => cluster?.stop());

  it("chaos: faults between every two processes lose, double and change nothing", async () => {
    const told: string[] = [];
    const result = await runChaos(cluster, {
      faults: 18,
      kills: 2,
      isolations: 0,
      switchovers: 0,
      stories: FEW_STORIES,
      // Its plan kills the front and cuts and refuses clients: viewers and callers must come back.
      seed: 20_261_126,
      audioSeconds: 6,
      speed: 1,
      say: (line) => told.push(line),
    });
    expect(result.problems, told.join("\n")).toEqual([]);
    expect(result.viewers).toBeGreaterThanOrEqual(20);
    expect(result.reconnects).toBeGreaterThan(0);
    expect(result.retries).toBeGreaterThan(0);
    expect(result.events).toBeGreaterThan(result.chunks);
  });
});
