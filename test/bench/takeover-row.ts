import type { BenchRow, BenchScale } from "./row.ts";
import { quantile } from "./statistics.ts";
import { measureTakeover } from "./takeover.ts";

const MARK_MS = 1_200;

/** Sessions whose owner is killed, until the next owner works on them. */
export async function measureTakeoverRow(scale: BenchScale): Promise<BenchRow[]> {
  const { kills, takeoverMs, withoutNatsMs, leaseMs } = await measureTakeover(scale.rounds * 4, 0);
  const p95 = quantile(takeoverMs, 0.95);
  const without = quantile(withoutNatsMs, 0.95);
  return [
    {
      figure: "takeover after kill -9 of the owner, p95",
      unit: "ms",
      ours: p95,
      mark: `<= ${MARK_MS} ms`,
      met: Math.max(p95, without) <= MARK_MS,
      detail: `${kills} owners killed, ${takeoverMs.length} sessions; lease ${leaseMs} ms; p95 with a NATS server killed as well ${Math.round(without)} ms; from the kill to the first durable event of the next owner`,
    },
  ];
}
