#!/usr/bin/env node
// `npm test`: the set-up of `npm run up`, then every check in order, stopping at the first that
// fails. `npm test -- unit` runs one stage; what follows a second `--` goes to vitest.
// `npm test -- --changed` runs the checks and those tests that import what is not committed yet;
// `--changed=main` what differs from main. Tests of whole processes import nothing of the service,
// so e2e is left out.
import { existsSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { runEntry } from "./setup/entry.mjs";
import { knownSettings } from "./setup/env-file.mjs";
import { PROJECT } from "./setup/paths.mjs";
import { prepare } from "./setup/prepare.mjs";
import { StepError } from "./setup/step-error.mjs";
import { CHECKS, runCheck } from "./testing/checks.mjs";
import { prepareForeignPrograms } from "./testing/foreign-programs.mjs";
import { runSuite, SUITES } from "./testing/suites.mjs";

/** Where the set-up finds what it needs: kept. */
const KEPT = [
  "VOICE_IGNORE_SYSTEM_PACKAGES",
  "VOICE_CACHE_DIR",
  "VOICE_NATIVE_ROOT",
  "VOICE_NATS_SERVER",
  "NO_COLOR",
];
const STAGES = [...Object.keys(CHECKS), ...SUITES];
const STAGES_OF_CHANGES = [
  "types",
  "page-types",
  "lint",
  "imports",
  "unit",
  "contract",
  "integration",
  "attacks",
  "sim",
];

await runEntry(async (screen) => {
  const { stages, passedOn } = parseArguments(process.argv.slice(2));
  shieldFromSettings();
  const env = await prepare(screen);
  const needsForeign = stages.includes("attacks") || stages.includes("e2e");
  if (needsForeign) Object.assign(env, await prepareForeignPrograms(screen));
  const client = join(PROJECT, "src/cli/gen/api-schema.ts");
  // Types of a client that was made before the routes changed would tell nothing.
  const needsClient = stages.some((stage) => stage.endsWith("types")) || !existsSync(client);
  if (needsClient && !stages.includes("client")) stages.unshift("client");
  const total = { passed: 0, failed: 0, skipped: 0 };
  for (const stage of stages) {
    const result =
      stage in CHECKS
        ? await runCheck(screen, stage, env)
        : await runSuite(screen, stage, passedOn, env);
    for (const key of Object.keys(total)) total[key] += result[key];
    if (result.failed > 0) {
      screen.fail(`stage ${stage} failed: run it alone with  npm test -- ${stage}`);
      break;
    }
  }
  if (total.skipped > 0) screen.warn(`${total.skipped} tests were skipped`);
  screen.line(`${total.passed} passed, ${total.failed} failed`);
  return total.failed > 0 ? 1 : 0;
});

/** Tests bring their own servers and settings: none of the developer's may reach them. */
function shieldFromSettings() {
  for (const name of [...knownSettings(), "NODE_OPTIONS"]) {
    if (!KEPT.includes(name)) delete process.env[name];
  }
  process.env.VOICE_NO_ENV_FILE = "1";
}

function parseArguments(args) {
  const split = args.indexOf("--");
  const own = split < 0 ? args : args.slice(0, split);
  const changed = own.find((arg) => /^--changed(=|$)/.test(arg));
  const given = own.filter((arg) => arg !== changed);
  const named = given.length === 0 && changed !== undefined ? STAGES_OF_CHANGES : given;
  const unknown = named.find((name) => !STAGES.includes(name));
  if (unknown !== undefined) {
    throw new StepError(
      `no stage is called ${unknown}`,
      `choose from: ${STAGES.join(", ")}; or --changed, or --changed=COMMIT`,
    );
  }
  const passedOn = split < 0 ? [] : args.slice(split + 1);
  if (changed !== undefined) passedOn.push(changed);
  return { stages: STAGES.filter((name) => named.length === 0 || named.includes(name)), passedOn };
}
