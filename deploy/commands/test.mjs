// `npm test`: the set-up of `npm run up`, then one run of all tests with the checks of the sources
// beside it. `npm test -- unit` runs one stage; what follows a second `--` goes to vitest.
// `npm test -- changed` runs the checks and those tests that import what is not committed yet, but
// for those of the whole service; `changed=main` what differs from main.
import { existsSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { runEntry } from "../setup/entry.mjs";
import { knownSettings } from "../setup/env-file.mjs";
import { PROJECT } from "../setup/paths.mjs";
import { prepare } from "../setup/prepare.mjs";
import { Screen } from "../setup/screen.mjs";
import { StepError } from "../setup/step-error.mjs";
import { CHECKS, runCheck } from "../testing/checks.mjs";
import { prepareForeignPrograms } from "../testing/foreign-programs.mjs";
import { NIGHTLY_PROJECTS, PROJECTS } from "../testing/projects.mjs";
import { runSuites } from "../testing/suites.mjs";
import { findWholeTests } from "../testing/whole-tests.mjs";

/** Where the set-up finds what it needs: kept. */
const KEPT = ["VOICE_IGNORE_SYSTEM_PACKAGES", "VOICE_CACHE_DIR", "VOICE_NATS_SERVER", "NO_COLOR"];
const SUITES = PROJECTS.map(({ name }) => name);
const NIGHTLY = NIGHTLY_PROJECTS.map(({ name }) => name);
/** Those of `changed`: tests of the whole service concern every change, and take their time. */
const FOLLOWS_IMPORTS = ["unit", "contract", "integration", "sim"];
const CHECKS_OF_CHANGES = ["types", "page-types", "lint", "imports"];

const NOTHING = { passed: 0, failed: 0, skipped: 0, installations: [], left: [] };

/** A stream that a `Screen` writes to. */
class KeptText {
  text = "";
  columns = 80;
  isTTY = false;
  destroyed = false;

  write(text) {
    this.text += text;
  }

  on() {}
}

await runEntry(async (screen) => {
  const { checks, suites, passedOn } = parseArguments(process.argv.slice(2));
  shieldFromSettings();
  const env = await prepare(screen);
  // Programs of other people, which these tests meet.
  const meetOthers = ["attacks", "e2e", ...NIGHTLY];
  if (suites.some((name) => meetOthers.includes(name))) {
    Object.assign(env, await prepareForeignPrograms(screen));
  }
  const [checked, tested] = await Promise.all([
    runChecks(screen, checks, env, suites.length > 0),
    suites.length > 0 ? runSuites(suites, passedOn, env) : NOTHING,
  ]);
  screen.line(checked.held);
  return report(screen, { checked, tested });
});

/** One after the other; their lines are held back while vitest draws on the same terminal. */
async function runChecks(screen, names, env, isBesideTests) {
  const kept = new KeptText();
  const shown = isBesideTests && process.stdout.isTTY ? new Screen(kept) : screen;
  const total = { passed: 0, failed: 0 };
  for (const name of names) {
    const { passed, failed } = await runCheck(shown, name, env);
    total.passed += passed;
    total.failed += failed;
  }
  return { ...total, held: kept.text };
}

function report(screen, { checked, tested }) {
  const [passed, failed] = [checked.passed + tested.passed, checked.failed + tested.failed];
  if (tested.skipped > 0) screen.warn(`${tested.skipped} tests were skipped`);
  if (tested.installations.length > 0) {
    screen.line(`${tested.installations.length} installations were started`);
  }
  for (const command of tested.left) screen.warn(`a test left a process behind: ${command}`);
  screen.line(`${passed} passed, ${failed} failed`);
  return failed > 0 || tested.left.length > 0 ? 1 : 0;
}

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
  const passedOn = split < 0 ? [] : args.slice(split + 1);
  const changed = own.find((arg) => /^(--)?changed(=|$)/.test(arg));
  const named = own.filter((arg) => arg !== changed);
  const all = [...Object.keys(CHECKS), ...SUITES, ...NIGHTLY];
  const unknown = named.find((name) => !all.includes(name));
  if (unknown !== undefined) {
    throw new StepError(
      `no stage is called ${unknown}`,
      `choose from: ${all.join(", ")}; or changed, or changed=COMMIT`,
    );
  }
  if (changed !== undefined) {
    const whole = findWholeTests(FOLLOWS_IMPORTS).map((file) => `--exclude=${file}`);
    passedOn.push(changed.replace(/^(--)?/, "--"), ...whole);
  }
  const usual = changed === undefined ? SUITES : FOLLOWS_IMPORTS;
  const usualChecks = changed === undefined ? Object.keys(CHECKS) : CHECKS_OF_CHANGES;
  const checks = named.length === 0 ? usualChecks : named.filter((name) => name in CHECKS);
  const suites = named.length === 0 ? usual : named.filter((name) => !(name in CHECKS));
  const client = join(PROJECT, "src/client/gen/api-schema.ts");
  // Types of a client that was made before the routes changed would tell nothing.
  const needsClient = checks.some((name) => name.endsWith("types")) || !existsSync(client);
  if (needsClient && !checks.includes("client")) checks.unshift("client");
  return { checks, suites, passedOn };
}
