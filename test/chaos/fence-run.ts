// `npm run chaos:fence -- [--rounds n] [--cuts postgres] [--seconds n]`: owners put out of action.
import { parseArgs } from "node:util";
import { SERVICE_ROLE } from "../../deploy/supervisor/postgres/roles.ts";
import { migrate } from "../../src/postgres/migrate.ts";
import { startPostgres } from "../support/postgres.ts";
import { recordFigures } from "../support/recorded-figures.ts";
import { runFence } from "./fence.ts";
import { FENCE_FAULTS, type FenceCut } from "./fence-faults.ts";

const HELP = `npm run chaos:fence -- [options]
  --rounds n     owners stopped with SIGSTOP past their lease (100)
  --cuts names   what an owner alone loses, one after another (postgres,postgres-silent)
  --seconds n    how long each of these lasts (65)`;

const { values } = parseArgs({
  options: {
    help: { type: "boolean", default: false },
    /** Owners stopped with SIGSTOP. */
    rounds: { type: "string", default: "100" },
    /** What is cut off from an owner alone, one after another; an empty list for nothing. */
    cuts: { type: "string", default: "postgres,postgres-silent" },
    /** How long each of these lasts. */
    seconds: { type: "string", default: "65" },
  },
});
const [rounds, seconds] = [Number(values.rounds), Number(values.seconds)];
const cuts = values.cuts.split(",").filter((each) => each !== "");
const areCuts = (names: readonly string[]): names is FenceCut[] =>
  names.every((name) => name !== "stop" && (FENCE_FAULTS as readonly string[]).includes(name));
if (values.help) {
  console.log(HELP);
  process.exit();
}
if (!Number.isInteger(rounds) || rounds < 0 || !(seconds > 0) || !areCuts(cuts)) {
  console.error(HELP);
  process.exit(2);
}
const postgres = await startPostgres();
try {
  const database = await postgres.createEmptyDatabase();
  await migrate(database.ownerUrl, { serviceRole: SERVICE_ROLE });
  const { serviceUrl: databaseUrl, ownerUrl } = database;
  const { problems, ...figures } = await runFence({
    rounds,
    cuts,
    cutMs: seconds * 1_000,
    databaseUrl,
    ownerUrl,
    say: (line) => console.log(line),
  });
  console.log(JSON.stringify(figures));
  for (const problem of problems.slice(0, 50)) console.error(problem);
  const verdict = problems.length === 0 ? "no stale write landed" : "not as it should be";
  console.log(verdict);
  recordFigures(`${JSON.stringify(figures)}\n${verdict}`);
  process.exitCode = problems.length === 0 ? 0 : 1;
} finally {
  await postgres.stop();
}
process.exit();
