import type { BenchRow, BenchScale } from "./row.ts";
import { quantile } from "./statistics.ts";
import { measureTakeover } from "./takeover.ts";

const MARK_MS = 2_000;

/** Sessions whose owner is killed, until the next owner works on them, against a NATS leader. */
export async function measureTakeoverRow(scale: BenchScale): Promise<BenchRow[]> {
  const { kills, takeoverMs, natsLeaderMs, leaseMs } = await measureTakeover(
    scale.rounds * 2,
    scale.rounds,
    0,
  );
  const p95 = quantile(takeoverMs, 0.95);
  const peer = quantile(natsLeaderMs, 0.95);
  return [
    {
      figure: "takeover after kill -9 of the owner, p95",
      unit: "ms",
      ours: p95,
      peer: { name: "leader of a 3-copy NATS stream", value: peer },
      ratio: peer / p95,
      mark: `<= ${MARK_MS} ms`,
      met: p95 <= MARK_MS,
      detail: `${kills} owners killed, ${takeoverMs.length} sessions; lease ${leaseMs} ms; from the kill to the first durable event of the next owner`,
    },
  ];
}
