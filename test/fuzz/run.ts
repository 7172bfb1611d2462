import { parseArgs } from "node:util";
import { recordFigures } from "../support/recorded-figures.ts";
import { WholeService } from "../support/whole-service.ts";
import { type FuzzOptions, type FuzzResult, fuzzService } from "./fuzz-service.ts";
import { doMainJob } from "./main-job.ts";
import { TARGETS, type TargetName } from "./target.ts";
import { ServiceWatch } from "./watch.ts";

const USAGE = `npm run fuzz -- [--requests n | --minutes n] [--only ${TARGETS.join(",")}] [--seed n] [--case n]

Sends random and broken requests to a whole service of its own, and ends with 1 if it finds something:
an answer outside of the document, a process that ended, memory that stays, a standstill.

  --requests n  so many cases, 20000 by default
  --minutes n   for so long instead
  --only names  some of the surfaces
  --seed n      the same cases again, as a run prints it
  --case n      one case alone, of that seed`;

/** How the cases of a run are shared out. */
const SHARES: Readonly<Record<TargetName, number>> = {
  http: 0.5,
  live: 0.1,
  device: 0.1,
  grpc: 0.15,
  multipart: 0.15,
};

const { values } = parseArgs({
  options: {
    requests: { type: "string", default: "20000" },
    minutes: { type: "string" },
    only: { type: "string", default: TARGETS.join(",") },
    seed: { type: "string", default: String(Date.now() % 2 ** 31) },
    case: { type: "string" },
    help: { type: "boolean", short: "h" },
  },
});
if (values.help === true) {
  console.log(USAGE);
  process.exit(0);
}
const requests = Number(values.requests);
const minutes = values.minutes === undefined ? undefined : Number(values.minutes);
const seed = Number(values.seed);
const names = values.only.split(",").filter((name): name is TargetName => {
  return (TARGETS as readonly string[]).includes(name);
});
const single = values.case === undefined ? undefined : Number(values.case);
const isWrong = [requests, seed, single ?? 0].some((each) => !Number.isInteger(each) || each < 0);
if (isWrong || names.length !== values.only.split(",").length || !((minutes ?? 1) > 0)) {
  console.error(USAGE);
  process.exit(2);
}

/** The cases to play, and when to stop. */
function planned(startedAt: number): Pick<FuzzOptions, "cases" | "from" | "until"> {
  const of = (count: (name: TargetName) => number): FuzzOptions["cases"] =>
    Object.fromEntries(names.map((name) => [name, count(name)]));
  if (single !== undefined) return { cases: of(() => 1), from: single };
  if (minutes !== undefined) {
    const end = startedAt + minutes * 60_000;
    return { cases: of(() => Number.MAX_SAFE_INTEGER), until: () => performance.now() > end };
  }
  const whole = names.reduce((sum, name) => sum + SHARES[name], 0);
  return { cases: of((name) => Math.ceil((requests * SHARES[name]) / whole)) };
}

function tableOf({ outcomes }: FuzzResult): string[] {
  return [...outcomes].map(([name, counts]) => {
    const sum = [...counts.values()].reduce((all, each) => all + each, 0);
    const each = [...counts].sort(([, one], [, other]) => other - one);
    return `${name}: ${sum} (${each.map(([what, n]) => `${what} × ${n}`).join(", ")})`;
  });
}

const length = minutes === undefined ? `${requests} cases` : `${minutes} minutes`;
console.log(
  `${single === undefined ? length : `case ${single}`} of ${names.join(", ")}, seed ${seed}`,
);
// Sessions that rest leave the memory soon, so that the end shows what is never given back.
const service = await WholeService.start({ RATE_LIMIT_FACTOR: "0", PASSIVATE_MS: "15000" });
try {
  const faults: string[] = [];
  // Once before all: models and caches are then in memory, and what comes on top is what is kept.
  const cold = await doMainJob(service);
  if (cold !== undefined) throw new Error(cold);
  const watch = await ServiceWatch.start(service, (reason) => faults.push(reason));
  const startedAt = performance.now();
  let told = startedAt;
  const result = await fuzzService(service, {
    ...planned(startedAt),
    seed,
    onCase: (done) => {
      if (performance.now() < told + 60_000) return;
      told = performance.now();
      watch.checkProcesses();
      console.log(`${done} after ${((told - startedAt) / 60_000).toFixed(0)} min; ${watch.memory}`);
    },
  });
  const seconds = (performance.now() - startedAt) / 1_000;
  console.log(`in ${seconds.toFixed(1)} s`);
  for (const line of tableOf(result)) console.log(line);
  const wrong = await doMainJob(service).catch((error: unknown) => `the demo: ${error}`);
  if (wrong !== undefined) faults.push(wrong);
  await watch.finish();
  console.log(`${watch.memory}; ${watch.standstill}`);
  for (const fault of faults) result.findings.addOfRun(fault);
  const { texts } = result.findings;
  for (const text of texts) console.error(text);
  const verdict = texts.length === 0 ? "no finding" : `${texts.length} kinds of findings`;
  console.log(verdict);
  const took = `in ${seconds.toFixed(1)} s; ${watch.memory}; ${watch.standstill}`;
  recordFigures([...tableOf(result), took, verdict].join("\n"));
  process.exitCode = texts.length === 0 ? 0 : 1;
} finally {
  await service.stop();
}
