// `npm run soak -- [--minutes n] [--sessions n] [--speaking n]`: whether the service stays level.
import { mkdirSync, writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { recordFigures } from "../support/recorded-figures.ts";
import { runSoak } from "./soak.ts";
import { boundOf } from "./soak-bounds.ts";
import { levelOf, tableOf, tooShort, trendsOf } from "./soak-figures.ts";

const HELP = `npm run soak -- [options]
  --minutes n     how long (60)
  --sessions n    devices that record, session after session (200)
  --speaking n    most that speak at once (6)
  --silent n      most that send silence at once, the others rest (a tenth of the sessions)
  --every n       seconds between two samples (60)
  --seed n        decides everything that chance decides (1)
  --out folder    for all samples (out/soak)`;

const { values } = parseArgs({
  options: {
    help: { type: "boolean", default: false },
    minutes: { type: "string", default: "60" },
    sessions: { type: "string", default: "200" },
    speaking: { type: "string", default: "6" },
    silent: { type: "string" },
    /** Seconds between two samples. */
    every: { type: "string", default: "60" },
    seed: { type: "string", default: "1" },
    out: { type: "string", default: "out/soak" },
  },
});
const [minutes, sessions] = [Number(values.minutes), Number(values.sessions)];
const [speaking, every, seed] = [
  Number(values.speaking),
  Number(values.every),
  Number(values.seed),
];
const silent = Number(values.silent ?? Math.ceil(sessions / 10));
if (values.help) {
  console.log(HELP);
  process.exit();
}
if (![minutes, sessions, speaking, silent, every].every((each) => each > 0) || !(seed >= 0)) {
  console.error(HELP);
  process.exit(2);
}
const startedAt = performance.now();
const say = (line: string): void => {
  console.log(`${((performance.now() - startedAt) / 60_000).toFixed(1).padStart(6)} min  ${line}`);
};
const options = { minutes, sessions, speaking, silent, every, seed };
say(
  `${JSON.stringify(options)}, load ${loadavg()
    .map((each) => each.toFixed(1))
    .join(" ")}`,
);
const { samples, counts, problems } = await runSoak({ ...options, say });
const trends = trendsOf(samples, boundOf);
const folder = resolve(values.out);
mkdirSync(folder, { recursive: true });
const file = join(folder, `soak-${new Date().toISOString().replace(/[:.]/g, "-")}.json`);
const kept = { options, counts, problems, trends, samples };
writeFileSync(file, `${JSON.stringify(kept, undefined, 1)}\n`);
for (const line of tableOf(trends)) console.log(line);
say(`${JSON.stringify(counts)}; all samples in ${file}`);
for (const problem of problems) console.error(problem);
const growing = trends.filter((trend) => levelOf(trend) === "grows").map(({ name }) => name);
const short = tooShort(samples);
const verdict =
  short !== undefined
    ? `too short for a verdict: ${short}`
    : growing.length > 0
      ? `not level: ${growing.join("; ")}`
      : "level: nothing grew beyond its bound after the first quarter";
console.log(verdict);
recordFigures([...tableOf(trends), verdict].join("\n"));
process.exit(problems.length > 0 || (short === undefined && growing.length > 0) ? 1 : 0);
