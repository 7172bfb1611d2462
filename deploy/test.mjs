#!/usr/bin/env node
// `npm test`: the set-up of `npm run up`, then every check in order, stopping at the first that
// fails. `npm test -- unit` runs one stage; what follows a second `--` goes to vitest.
import { existsSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { runEntry } from "./setup/entry.mjs";
import { PROJECT } from "./setup/paths.mjs";
import { prepare } from "./setup/prepare.mjs";
import { StepError } from "./setup/step-error.mjs";
import { CHECKS, runCheck } from "./testing/checks.mjs";
import { prepareForeignPrograms } from "./testing/foreign-programs.mjs";
import { runSuite, SUITES } from "./testing/suites.mjs";

const SETTINGS = [
  "DATABASE_URL",
  "DATABASE_OWNER_URL",
  "NATS_URL",
  "NATS_TOKEN",
  "ADMIN_EMAIL",
  "ADMIN_PASSWORD",
  "VOICE_PORT",
  "VOICE_DATA",
  "VOICE_NO_DEMO",
  "VOICE_SPEED",
  "VOICE_FRESH",
  "VOICE_READY_FILE",
  "VOICE_BLOB_DIR",
  "VOICE_KEY_DIR",
  "LOG_LEVEL",
  "NODE_OPTIONS",
];
const STAGES = [...Object.keys(CHECKS), ...SUITES];

await runEntry(async (screen) => {
  const { stages, passedOn } = parseArguments(process.argv.slice(2));
  shieldFromSettings();
  const env = await prepare(screen);
  if (stages.includes("e2e")) Object.assign(env, await prepareForeignPrograms(screen));
  const client = join(PROJECT, "src/cli/gen/api-schema.ts");
  if (!stages.includes("client") && !existsSync(client)) stages.unshift("client");
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
  process.env.VOICE_NO_ENV_FILE = "1";
  for (const name of SETTINGS) delete process.env[name];
}

function parseArguments(args) {
  const split = args.indexOf("--");
  const named = split < 0 ? args : args.slice(0, split);
  const unknown = named.find((name) => !STAGES.includes(name));
  if (unknown !== undefined) {
    throw new StepError(`no stage is called ${unknown}`, `choose from: ${STAGES.join(", ")}`);
  }
  const passedOn = split < 0 ? [] : args.slice(split + 1);
  return { stages: STAGES.filter((name) => named.length === 0 || named.includes(name)), passedOn };
}
