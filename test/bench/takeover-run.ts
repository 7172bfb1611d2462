// `npm run bench:takeover [kills [rounds]]`: how long sessions are without an owner after a kill -9,
// and whether a redo and a late chunk under way are taken up without anybody's help.

import { recordFigures } from "../support/recorded-figures.ts";
import { measureTakeover } from "./takeover.ts";

const kills = Number(process.argv[2] ?? 20);
const unaidedRounds = Number(process.argv[3] ?? 3);
if (!Number.isInteger(kills) || kills < 1 || !(unaidedRounds >= 0)) {
  console.error("npm run bench:takeover [kills [rounds]]");
  process.exit(2);
}

function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

function line(name: string, values: readonly number[]): string {
  const [p50, p95, most] = [0.5, 0.95, 1].map((share) => quantile(values, share).toFixed(0));
  return `${name}: p50 ${p50} ms, p95 ${p95} ms, longest ${most} ms (${values.length} measured)`;
}

const figures = await measureTakeover(kills, unaidedRounds, console.log);
const { takeoverMs, withoutNatsMs, leaseMs } = figures;
const told = [
  `${figures.kills} owners killed; lease ${leaseMs} ms, a third of it without a connection`,
  line("owner killed to first durable event of the next", takeoverMs),
];
if (withoutNatsMs.length > 0) told.push(line("the same, a NATS server killed too", withoutNatsMs));
for (const what of ["redo", "late reading"] as const) {
  const found = figures.unaided.filter((each) => each.what === what);
  if (found.length === 0) continue;
  const known = (pick: "activatedMs" | "doneMs") => found.flatMap((each) => each[pick] ?? []);
  told.push(line(`owner killed to ${what} taken up by the other`, known("activatedMs")));
  told.push(line(`owner killed to ${what} done`, known("doneMs")));
}
console.log(`\n${told.join("\n")}`);
recordFigures(told.join("\n"));
const left = figures.unaided.filter(({ doneMs }) => doneMs === undefined);
for (const { what } of left) console.error(`a ${what} was not done within two minutes`);
process.exit(left.length === 0 ? 0 : 1);
