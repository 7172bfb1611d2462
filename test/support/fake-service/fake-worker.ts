// Stands in for workers/main.ts; with FAKE_WORKER_STUBBORN=1 it does not obey SIGTERM, with
// FAKE_WORKER_DIES_ONCE=file it is killed at its first start.
import { existsSync, writeFileSync } from "node:fs";

const { FAKE_WORKER_DIES_ONCE: marker } = process.env;
if (marker !== undefined && !existsSync(marker)) {
  writeFileSync(marker, "");
  process.kill(process.pid, "SIGKILL");
}
const facts = {
  level: 30,
  event: "ready",
  grpc_worker: `127.0.0.1:${process.env.WORKER_PORT}`,
  knows_database: process.env.DATABASE_URL !== undefined,
};
process.stdout.write(`${JSON.stringify(facts)}\n`);
setInterval(() => undefined, 60_000);
process.on("SIGTERM", () => {
  if (process.env.FAKE_WORKER_STUBBORN !== "1") process.exit(0);
});
