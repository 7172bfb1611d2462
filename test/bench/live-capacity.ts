import type { BenchRow } from "./row.ts";

const MARK = 5;

/**
 * Live streams that a core carries: their seconds of audio over the processor time of all our
 * processes, PostgreSQL and NATS among them.
 */
export function describeCapacity(seconds: number, cpuSeconds: number, detail: string): BenchRow {
  const ours = seconds / cpuSeconds;
  return {
    figure: "live streams per core",
    unit: "streams",
    ours,
    ratio: ours / MARK,
    mark: `>= ${MARK}`,
    met: ours >= MARK,
    detail: `by processor time, with interim results and durable audio; ${detail}`,
  };
}
