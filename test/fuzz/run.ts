import { parseArgs } from "node:util";
import { WholeService } from "../support/whole-service.ts";
import { describeFailures, fuzzService } from "./fuzz-service.ts";

const { values } = parseArgs({
  options: {
    requests: { type: "string", default: "20000" },
    seed: { type: "string", default: String(Date.now() % 2 ** 31) },
  },
});
const requests = Number(values.requests);
const seed = Number(values.seed);
if (!Number.isInteger(requests) || requests < 1 || !Number.isInteger(seed)) {
  console.error("npm run fuzz -- [--requests n] [--seed n]");
  process.exit(2);
}

console.log(`${requests} requests, seed ${seed}`);
const service = await WholeService.start({ RATE_LIMIT_FACTOR: "0" });
try {
  const startedAt = performance.now();
  const result = await fuzzService(service, {
    requests,
    seed,
    onRequest: (done) => {
      if (done % 1_000 === 0) console.log(`${done}`);
    },
  });
  const seconds = (performance.now() - startedAt) / 1_000;
  const statuses = [...result.statuses].sort(([one], [other]) => one - other);
  console.log(`in ${seconds.toFixed(1)} s: ${statuses.map((each) => each.join(" × ")).join(", ")}`);
  for (const failure of describeFailures(result)) console.error(failure);
  process.exitCode = result.failures.size === 0 ? 0 : 1;
} finally {
  await service.stop();
}
