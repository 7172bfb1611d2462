import type { GrowthDevice } from "./growth-device.ts";
import type { GrowthFigures } from "./growth-figures.ts";
import type { GrowthFixture } from "./growth-fixture.ts";
import type { Cost } from "./growth-meter.ts";
import type { BenchScale } from "./row.ts";
import { median } from "./statistics.ts";

/** Whole periods of what comes every second, every five and every ten. */
const IDLE_MS = 10_000;
const IDLE_QUICK_MS = 5_000;

interface Quiet {
  size: string;
  fixture: GrowthFixture;
}

/**
 * What the houses cost while nobody speaks. All at once: their processor time is told apart, and
 * waiting for one after the other would take as many times as long. Answers the median of each.
 */
export async function idleRounds(
  figures: GrowthFigures,
  stages: readonly Quiet[],
  rounds: number,
  { size }: BenchScale,
): Promise<Cost[]> {
  const ms = size < 1 ? IDLE_QUICK_MS : IDLE_MS;
  const costs: Cost[][] = stages.map(() => []);
  for (let round = 0; round <= rounds; round += 1) {
    await Promise.all(
      stages.map(async ({ fixture, size }, n) => {
        const cost = await fixture.meter.measure(() => new Promise((wake) => setTimeout(wake, ms)));
        if (round === 0) return;
        costs[n]?.push(cost);
        figures.addWork("a second in which nobody speaks", size, cost, cost.seconds);
      }),
    );
  }
  return costs.map(medianCost);
}

function medianCost(costs: readonly Cost[]): Cost {
  const of = (pick: (cost: Cost) => number) => median(costs.map(pick));
  return {
    seconds: of(({ seconds }) => seconds),
    mainMs: of(({ mainMs }) => mainMs),
    postgresMs: of(({ postgresMs }) => postgresMs),
    walBytes: of(({ walBytes }) => walBytes),
    imageBytes: of(({ imageBytes }) => imageBytes),
    statements: of(({ statements }) => statements),
    byStatement: [],
  };
}

/** All that speak at the same time, each one chunk after the other; without what the house costs idle. */
export async function speakRound(
  figures: GrowthFigures,
  { fixture, size, speaking }: Quiet & { speaking: readonly GrowthDevice[] },
  each: number,
  idle: Cost | undefined,
  isCounted: boolean,
): Promise<void> {
  for (const device of speaking) await device.say();
  const delays: number[] = [];
  const cost = await fixture.meter.measure(async () => {
    const heard = await Promise.all(speaking.map((device) => device.speak(each)));
    delays.push(...heard.flat());
  });
  for (const device of speaking) device.unfollow();
  if (!isCounted) return;
  figures.add("final: chunk stored to final seen", "ms", size, median(delays));
  figures.addWork("final", size, cost, each * speaking.length, idle);
}
