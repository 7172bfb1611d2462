import { parseArgs } from "node:util";
import { SERVICE_ROLE } from "../../deploy/supervisor/postgres/roles.ts";
import { migrate } from "../../src/store/migrate.ts";
import { startNats } from "../support/nats.ts";
import { startPostgres } from "../support/postgres.ts";
import { runFence } from "./fence.ts";

const { values } = parseArgs({ options: { rounds: { type: "string", default: "100" } } });
const rounds = Number(values.rounds);
if (!Number.isInteger(rounds) || rounds < 1) {
  console.error("npm run chaos:fence -- [--rounds n]");
  process.exit(2);
}
const [postgres, nats] = await Promise.all([startPostgres(), startNats()]);
try {
  const database = await postgres.createEmptyDatabase();
  await migrate(database.ownerUrl, { serviceRole: SERVICE_ROLE });
  const { url: natsUrl, token: natsToken } = nats;
  const { serviceUrl: databaseUrl, ownerUrl } = database;
  const say = (line: string): void => console.log(line);
  const { problems, ...figures } = await runFence({
    rounds,
    databaseUrl,
    ownerUrl,
    natsUrl,
    natsToken,
    say,
  });
  console.log(JSON.stringify(figures));
  for (const problem of problems.slice(0, 50)) console.error(problem);
  console.log(problems.length === 0 ? "no stale write landed" : "not as it should be");
  process.exitCode = problems.length === 0 ? 0 : 1;
} finally {
  await Promise.all([postgres.stop(), nats.stop()]);
}
