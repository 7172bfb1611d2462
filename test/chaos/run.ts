import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { ChaosStage } from "../support/chaos-stage.ts";
import { runChaos, tableOfBites } from "./chaos-run.ts";

const { values } = parseArgs({
  options: {
    faults: { type: "string", default: "200" },
    kills: { type: "string" },
    /** Where the processes' logs go, and the events of sessions that are not as they should be. */
    logs: { type: "string", default: "out/chaos" },
    seed: { type: "string", default: String(Date.now() % 2 ** 31) },
  },
});
const faults = Number(values.faults);
const kills = Number(values.kills ?? Math.round(faults / 10));
const seed = Number(values.seed);
if (![faults, kills, seed].every((each) => Number.isInteger(each) && each >= 0)) {
  console.error("npm run chaos -- [--faults n] [--kills n] [--seed n] [--logs folder]");
  process.exit(2);
}

console.log(`${faults} faults, ${kills} kills, seed ${seed}`);
const startedAt = performance.now();
const say = (line: string): void => {
  console.log(`${((performance.now() - startedAt) / 1_000).toFixed(1).padStart(7)} s  ${line}`);
};
const evidence = resolve(values.logs);
const stage = await ChaosStage.start(evidence);
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => void stage.stop().finally(() => process.exit(1)));
}
try {
  say("everything runs");
  const result = await runChaos(stage, {
    faults,
    kills,
    seed,
    audioSeconds: 8,
    speed: 0.5,
    say,
    evidence,
  });
  console.log("times each fault was made / connections or bytes that it bit:");
  for (const line of tableOfBites(stage)) console.log(line);
  const { problems, ...figures } = result;
  say(JSON.stringify(figures));
  for (const problem of problems) console.error(problem);
  console.log(problems.length === 0 ? "nothing lost, doubled or changed" : "not as it should be");
  process.exitCode = problems.length === 0 ? 0 : 1;
} finally {
  await stage.stop();
}
// Node keeps a handle of some of the sockets that were reset, and would wait for it for ever.
process.exit();
