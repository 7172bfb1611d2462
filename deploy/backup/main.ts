/** Entry point of backups and restores: `voice admin backup` and `voice admin restore` start it. */
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { isOn } from "../setup/env-file.mjs";
import { Screen } from "../setup/screen.mjs";
import { StepError } from "../setup/step-error.mjs";
import { parseBackupOptions } from "./options.ts";
import { runBackup } from "./run.ts";

const INTERRUPTED = 130;

const project = resolve(import.meta.dirname, "../..");
const screen = new Screen(process.stderr);
const interrupt = new AbortController();
for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(name, () => interrupt.abort());
}

try {
  const envFile = join(project, ".env");
  if (!isOn(process.env.VOICE_NO_ENV_FILE) && existsSync(envFile)) process.loadEnvFile(envFile);
  process.exitCode = await runBackup({
    options: parseBackupOptions(process.argv.slice(2)),
    project,
    release: releaseOf(project),
    env: process.env,
    screen,
    signal: interrupt.signal,
  });
} catch (error) {
  process.exitCode = tell(error);
}
process.exit();

function tell(error: unknown): number {
  if (interrupt.signal.aborted) {
    screen.fail("interrupted: nothing half done counts, and what was copied is not copied again");
    return INTERRUPTED;
  }
  if (error instanceof StepError) screen.problem(error);
  else screen.fail(error instanceof Error ? (error.stack ?? error.message) : String(error));
  return 1;
}

function releaseOf(folder: string): string {
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
    version: string;
  };
  return manifest.version;
}
