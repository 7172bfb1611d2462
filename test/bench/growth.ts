import { errorMessage } from "../../src/base/errors.ts";
import { measureStored } from "./growth-chunks.ts";
import { closeFixtures } from "./growth-fixture.ts";
import { measureLengths } from "./growth-length.ts";
import { measureOpen } from "./growth-open.ts";
import type { BenchRow, BenchScale } from "./row.ts";

/** A ratio says little of fewer. */
const LEAST_ROUNDS = 5;
const INTERRUPTED = 130;
const AXES: Readonly<Record<string, (rounds: number, scale: BenchScale) => Promise<BenchRow[]>>> = {
  length: measureLengths,
  open: measureOpen,
  chunks: measureStored,
};

/** How costs grow with the length of a session, with open sessions and with stored chunks. */
export async function measureGrowth(scale: BenchScale): Promise<BenchRow[]> {
  const rounds = Math.max(LEAST_ROUNDS, scale.rounds);
  console.log("The workers are scripted: they speak the real protocol and recognise nothing.");
  const interrupt = () => {
    const left = () => process.exit(INTERRUPTED);
    closeFixtures().then(left, left);
  };
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const signal of signals) process.once(signal, interrupt);
  try {
    const wanted = process.env.BENCH_GROWTH?.split(",") ?? Object.keys(AXES);
    const rows: BenchRow[] = [];
    for (const name of wanted) {
      process.stderr.write(`growth, ${name}\n`);
      // One axis that cannot be measured takes no other with it.
      await AXES[name]?.(rounds, scale).then(
        (found) => rows.push(...found),
        (error: unknown) => console.log(`left out: growth, ${name}: ${errorMessage(error)}`),
      );
    }
    return rows;
  } finally {
    for (const signal of signals) process.off(signal, interrupt);
  }
}
