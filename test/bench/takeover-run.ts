// `npm run bench:takeover [kills]`: how long sessions are without an owner after a kill -9.
import { measureTakeover } from "./takeover.ts";

const kills = Number(process.argv[2] ?? 20);
const leaderKills = Math.ceil(kills / 4);

function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

function line(name: string, values: readonly number[]): string {
  const [p50, p95, most] = [0.5, 0.95, 1].map((share) => quantile(values, share).toFixed(0));
  return `${name}: p50 ${p50} ms, p95 ${p95} ms, longest ${most} ms (${values.length} measured)`;
}

const figures = await measureTakeover(kills, leaderKills, console.log);
const { takeoverMs, natsLeaderMs, leaseMs } = figures;
console.log(
  `\n${figures.kills} owners killed; lease ${leaseMs} ms, half of it without a connection`,
);
console.log(line("owner killed to first durable event of the next", takeoverMs));
console.log(line("leader of a 3-copy NATS stream killed to next acknowledgement", natsLeaderMs));
const ratio = quantile(takeoverMs, 0.95) / quantile(natsLeaderMs, 0.95);
console.log(`ratio of the p95: ${ratio.toFixed(2)}`);
process.exit(0);
