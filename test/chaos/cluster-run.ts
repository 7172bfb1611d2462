// `npm run chaos:cluster -- [--kills n] [--isolations n] [--seed n]`: see runClusterChaos.
import { mkdirSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { recordFigures } from "../support/recorded-figures.ts";
import { runClusterChaos } from "./cluster.ts";
import { ALL_STORIES } from "./stories.ts";

const HELP = `npm run chaos:cluster -- [options]
  --kills n        kill -9 of random parts of \`up --cluster\` (40)
  --isolations n   a third host without NATS or without PostgreSQL for a minute, by turns (2)
  --seed n         decides everything that chance decides (the time of day)
  --out folder     for logs, and events of sessions that are not as they should be (out/chaos-cluster)`;

const { values } = parseArgs({
  options: {
    help: { type: "boolean", default: false },
    kills: { type: "string", default: "40" },
    isolations: { type: "string", default: "2" },
    seed: { type: "string", default: String(Date.now() % 2 ** 31) },
    /** Where all logs go, and the events of sessions that are not as they should be. */
    out: { type: "string", default: "out/chaos-cluster" },
  },
});
const [kills, isolations] = [Number(values.kills), Number(values.isolations)];
const seed = Number(values.seed);
if (values.help) {
  console.log(HELP);
  process.exit();
}
if (![kills, isolations, seed].every((each) => Number.isInteger(each) && each >= 0)) {
  console.error(HELP);
  process.exit(2);
}
const evidence = resolve(values.out);
mkdirSync(evidence, { recursive: true });
console.log(`${kills} kills, ${isolations} isolations, seed ${seed}`);
const startedAt = performance.now();
const say = (line: string): void => {
  console.log(`${((performance.now() - startedAt) / 1_000).toFixed(1).padStart(7)} s  ${line}`);
};
const { problems, ...figures } = await runClusterChaos({
  ...{ kills, isolations, seed, say, evidence },
  stories: ALL_STORIES,
});
say(JSON.stringify(figures));
for (const problem of problems) console.error(problem);
const verdict = problems.length === 0 ? "nothing lost, doubled or changed" : "not as it should be";
console.log(verdict);
recordFigures(`${JSON.stringify(figures)}\n${verdict}`);
process.exit(problems.length === 0 ? 0 : 1);
