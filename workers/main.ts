import { readFileSync } from "node:fs";
import { availableParallelism, hostname } from "node:os";
import { errorMessage } from "../src/base/errors.ts";
import { createProcessLog } from "../src/base/process-log.ts";
import { rootProblem } from "../src/base/settings.ts";
import { parseWorkerSettings } from "./settings.ts";
import { startWorker } from "./worker.ts";

const STOP_LIMIT_MS = 9_000;

function readVersion(): string {
  const file = new URL("../package.json", import.meta.url);
  const { version } = JSON.parse(readFileSync(file, "utf8")) as { version: string };
  return version;
}

const refusal = rootProblem(process.env);
if (refusal !== undefined) {
  process.stderr.write(`${refusal}\n`);
  process.exit(2);
}

const parsed = parseWorkerSettings(process.env, {
  workerId: `${hostname()}-${process.pid}`,
  cores: availableParallelism(),
});
if ("problems" in parsed) {
  for (const problem of parsed.problems) process.stderr.write(`${problem}\n`);
  process.exit(2);
}

const { settings } = parsed;
const log = createProcessLog(settings.logLevel, { worker_id: settings.workerId });

function die(error: unknown, message: string): never {
  log.fatal({ error: errorMessage(error) }, message);
  process.exit(1);
}
process.on("uncaughtException", (error) => die(error, "uncaught exception"));
process.on("unhandledRejection", (error) => die(error, "unhandled rejection"));

const entry = new URL("./threads/thread-entry.ts", import.meta.url);
const worker = await startWorker({ settings, entry, version: readVersion(), log }).catch((error) =>
  die(error, "the worker could not start"),
);
log.info(
  {
    event: "ready",
    grpc_worker: worker.address,
    worker_id: settings.workerId,
    ...(worker.opsUrl === undefined ? {} : { ops_url: worker.opsUrl }),
  },
  "worker is ready",
);

let isStopping = false;
function stop(signal: NodeJS.Signals): void {
  if (isStopping) return;
  isStopping = true;
  log.info({ signal }, "worker is stopping");
  setTimeout(() => process.exit(1), STOP_LIMIT_MS).unref();
  worker.stop().then(
    () => process.exit(0),
    (error) => die(error, "the worker did not stop cleanly"),
  );
}
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, stop);
