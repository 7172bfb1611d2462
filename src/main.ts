import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { startApp } from "./app.ts";
import { errorMessage } from "./base/errors.ts";
import { createProcessLog } from "./base/process-log.ts";
import { rootProblem } from "./base/settings.ts";
import { readConfig } from "./roles/config.ts";

const STOP_LIMIT_MS = 25_000;

const manifest = readFileSync(new URL("../package.json", import.meta.url), "utf8");
const { version } = JSON.parse(manifest) as { version: string };

const refusal = rootProblem(process.env);
if (refusal !== undefined) {
  process.stderr.write(`${refusal}\n`);
  process.exit(2);
}

function readOrExit(): ReturnType<typeof readConfig> {
  try {
    return readConfig(process.env, hostname());
  } catch (error) {
    process.stderr.write(`${errorMessage(error)}\n`);
    process.exit(2);
  }
}

const config = readOrExit();
const log = createProcessLog(config.logLevel, { node: config.nodeName });

function die(error: unknown, message: string): never {
  const stack = error instanceof Error ? error.stack : undefined;
  log.fatal({ error: errorMessage(error), stack }, message);
  process.exit(1);
}
process.on("uncaughtException", (error) => die(error, "uncaught exception"));
process.on("unhandledRejection", (error) => die(error, "unhandled rejection"));

const app = await startApp(config, version, log).catch((error) =>
  die(error, "the service could not start"),
);
log.info({ event: "ready", ...app.addresses }, "service is ready");

let stopping = false;
function stop(signal: NodeJS.Signals): void {
  if (stopping) process.exit(1);
  stopping = true;
  log.info({ signal }, "service is stopping");
  setTimeout(() => process.exit(1), STOP_LIMIT_MS).unref();
  app.stop().then(
    () => process.exit(0),
    (error) => die(error, "the service did not stop cleanly"),
  );
}
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, stop);
