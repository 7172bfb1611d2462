import { parseArgs } from "node:util";
import { runScenario } from "./scenario.ts";

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "20000" },
    from: { type: "string", default: "1" },
  },
});
const seeds = Number(values.seeds);
const from = Number(values.from);
if (!Number.isInteger(seeds) || seeds < 1 || !Number.isInteger(from) || from < 0) {
  console.error("npm run sim -- [--seeds n] [--from n]");
  process.exit(2);
}

const startedAt = performance.now();
const sum = { refused: 0, crashes: 0, gaps: 0, redos: 0 };
const failed: number[] = [];
for (let seed = from; seed < from + seeds; seed += 1) {
  const { fault, ...figures } = await runScenario(seed);
  for (const name of Object.keys(sum) as (keyof typeof sum)[]) sum[name] += figures[name];
  if (fault === undefined) continue;
  failed.push(seed);
  console.error(`seed ${seed}: ${fault.message}\n  again: npm run sim -- --seeds 1 --from ${seed}`);
  if (seeds === 1) console.error(fault.stack);
}
const seconds = (performance.now() - startedAt) / 1_000;
console.log(`${seeds} seeds from ${from} in ${seconds.toFixed(1)} s, ${failed.length} failed`);
console.log(
  Object.entries(sum)
    .map(([name, count]) => `${name} ${count}`)
    .join(", "),
);
process.exitCode = failed.length === 0 ? 0 : 1;
