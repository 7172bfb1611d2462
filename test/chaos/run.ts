// `npm run chaos -- [--faults n] [--kills n] [--seed n]`: see runChaos.
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { ChaosCluster } from "../support/chaos-cluster.ts";
import { recordFigures } from "../support/recorded-figures.ts";
import { runChaos, tableOfBites } from "./chaos-run.ts";
import { ALL_STORIES } from "./stories.ts";

const HELP = `npm run chaos -- [options]
  --faults n          of the network, between all pairs of processes (200)
  --kills n           kill -9 of a process, and its restart (a tenth of the faults)
  --isolations n      a host without NATS or without PostgreSQL for a minute, by turns (2)
  --switchovers 0|1   PostgreSQL's standby takes over (1)
  --seed n            decides everything that chance decides (the time of day)
  --logs folder       for logs, and events of sessions that are not as they should be (out/chaos)`;

const { values } = parseArgs({
  options: {
    help: { type: "boolean", default: false },
    faults: { type: "string", default: "200" },
    kills: { type: "string" },
    /** A host without NATS or without PostgreSQL for a minute. */
    isolations: { type: "string", default: "2" },
    switchovers: { type: "string", default: "1" },
    /** Where the processes' logs go, and the events of sessions that are not as they should be. */
    logs: { type: "string", default: "out/chaos" },
    seed: { type: "string", default: String(Date.now() % 2 ** 31) },
  },
});
const faults = Number(values.faults);
const kills = Number(values.kills ?? Math.round(faults / 10));
const seed = Number(values.seed);
const [isolations, switchovers] = [Number(values.isolations), Number(values.switchovers)];
const counts = [faults, kills, isolations, switchovers, seed];
if (values.help) {
  console.log(HELP);
  process.exit();
}
// One standby is there.
if (!counts.every((each) => Number.isInteger(each) && each >= 0) || switchovers > 1) {
  console.error(HELP);
  process.exit(2);
}
/** Further off than a device may be silent: who compares wall clocks ends sessions that live. */
const SKEWS = { host1: 10 * 60_000, host2: -7 * 60_000 };

console.log(
  `${faults} faults, ${kills} kills, ${isolations} isolations, ${switchovers} switchovers, seed ${seed}`,
);
const startedAt = performance.now();
const say = (line: string): void => {
  console.log(`${((performance.now() - startedAt) / 1_000).toFixed(1).padStart(7)} s  ${line}`);
};
const evidence = resolve(values.logs);
const cluster = await ChaosCluster.start({
  ...{ logFolder: evidence, skews: SKEWS },
  standby: switchovers > 0,
});
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => void cluster.stop().finally(() => process.exit(1)));
}
try {
  say("everything runs");
  const result = await runChaos(cluster, {
    faults,
    kills,
    isolations,
    switchovers,
    seed,
    stories: ALL_STORIES,
    // Long enough for two voices to be told apart.
    audioSeconds: 12,
    speed: 0.75,
    say,
    evidence,
  });
  console.log("times each fault was made / connections or bytes that it bit:");
  for (const line of tableOfBites(cluster)) console.log(line);
  const { problems, ...figures } = result;
  say(JSON.stringify(figures));
  for (const problem of problems) console.error(problem);
  const verdict =
    problems.length === 0 ? "nothing lost, doubled or changed" : "not as it should be";
  console.log(verdict);
  recordFigures(`${JSON.stringify(figures)}\n${verdict}`);
  process.exitCode = problems.length === 0 ? 0 : 1;
} finally {
  await cluster.stop();
}
// Node keeps a handle of some of the sockets that were reset, and would wait for it for ever.
process.exit();
