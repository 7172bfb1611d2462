import { existsSync } from "node:fs";
import { join } from "node:path";
import { command } from "../setup/command.mjs";
import { PROJECT, pinnedNode } from "../setup/paths.mjs";

const TIMEOUT_MS = 10 * 60_000;
const SOURCES = ["src", "workers", "deploy", "test"];

/** Checks that read the sources without running them: script and arguments. */
export const CHECKS = {
  lockfile: ["deploy/complete-lockfile.mjs", "--check"],
  licences: ["deploy/licences.mjs"],
  // Makes the types of the command line's client, which the checks below read.
  client: ["test/support/write-api-schema.ts"],
  types: [
    "node_modules/typescript-7/bin/tsc",
    "--noEmit",
    "--pretty",
    "false",
    // What has not changed since the last run is not checked again.
    "--incremental",
    "--tsBuildInfoFile",
    "node_modules/.cache/types.tsbuildinfo",
  ],
  // The page has a browser's types, not Node's.
  "page-types": [
    "node_modules/typescript-7/bin/tsc",
    "--project",
    "src/web/tsconfig.json",
    "--pretty",
    "false",
    "--incremental",
    "--tsBuildInfoFile",
    "node_modules/.cache/page-types.tsbuildinfo",
  ],
  lint: [
    "node_modules/@biomejs/biome/bin/biome",
    "check",
    "--error-on-warnings",
    "--max-diagnostics=50",
  ],
  imports: [
    "node_modules/dependency-cruiser/bin/dependency-cruiser.mjs",
    "--config",
    "deploy/dependency-cruiser.cjs",
    ...SOURCES,
  ],
};

/** Counts as one test; what it found is printed when it fails. */
export async function runCheck(screen, name, env) {
  const [script, ...args] = CHECKS[name];
  const step = screen.step(name);
  const file = join(PROJECT, script);
  if (!existsSync(file)) {
    step.fail(`${script} is missing`);
    return { passed: 0, failed: 1, skipped: 0 };
  }
  const result = await command(pinnedNode(), [file, ...args], {
    cwd: PROJECT,
    env,
    timeoutMs: TIMEOUT_MS,
  });
  if (result.code === 0) {
    step.done();
    return { passed: 1, failed: 0, skipped: 0 };
  }
  step.fail();
  screen.line(result.output.trim());
  return { passed: 0, failed: 1, skipped: 0 };
}
