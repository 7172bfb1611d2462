import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { isOn } from "../setup/env-file.mjs";
import { Screen } from "../setup/screen.mjs";
import { parseOptions } from "./options.ts";
import { superviseUntilStopped } from "./run.ts";
import { projectPrograms } from "./services.ts";

const project = resolve(import.meta.dirname, "../..");
const args = process.argv.slice(2);

if (args.includes("--help")) {
  process.stdout.write(readFileSync(join(import.meta.dirname, "help.txt"), "utf8"));
} else {
  const envFile = join(project, ".env");
  if (!isOn(process.env.VOICE_NO_ENV_FILE) && existsSync(envFile)) process.loadEnvFile(envFile);
  const screen = new Screen();
  process.exitCode = await superviseUntilStopped(screen, () => ({
    options: parseOptions(args, process.env, project),
    project,
    programs: projectPrograms(project),
    env: process.env,
    screen,
  }));
  process.exit();
}
