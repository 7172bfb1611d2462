import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import process from "node:process";
import { PROJECT, pinnedNode } from "../setup/paths.mjs";
import { endLeftProcesses } from "./left-processes.mjs";

const LONGEST_MS = 80 * 60_000;
/** Browsers and databases may still be ending when the tests have. */
const LEAVE_WITHIN_MS = 10_000;
/** Where installations of the tests are noted; its value also marks the processes of a run. */
const STARTS = "VOICE_TEST_STARTS";
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"];

/**
 * Runs projects of vitest.config.ts in this terminal, as one run.
 * @param {readonly string[]} projects their names
 * @param {readonly string[]} passedOn further arguments of vitest
 * @returns {Promise<{passed: number, failed: number, skipped: number, installations: string[],
 *   left: string[]}>} counts of tests, a line for each installation that they started, and the
 *   command lines of processes that they left running (ended here)
 */
export async function runSuites(projects, passedOn, env) {
  const folder = mkdtempSync(join(tmpdir(), "voice-report-"));
  const [report, starts] = [join(folder, "report.json"), join(folder, "starts")];
  try {
    // The recogniser's runtime has telemetry, which threads of tests cannot switch off themselves.
    const own = { [STARTS]: starts, ORT_DISABLE_TELEMETRY: "1" };
    const code = await runVitest(projects, report, passedOn, { ...env, ...own });
    const left = await endLeftProcesses(`${STARTS}=${starts}`, LEAVE_WITHIN_MS);
    return { ...count(report, code), installations: readLines(starts), left };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function runVitest(projects, report, passedOn, env) {
  const args = [
    "--disable-warning=ExperimentalWarning",
    join(PROJECT, "node_modules/vitest/vitest.mjs"),
    "run",
    ...projects.map((name) => `--project=${name}`),
    "--passWithNoTests",
    "--reporter=default",
    "--reporter=json",
    `--outputFile.json=${report}`,
    ...passedOn,
  ];
  const path = `${dirname(pinnedNode())}${delimiter}${env.PATH}`;
  return new Promise((settle) => {
    const child = spawn(pinnedNode(), args, {
      cwd: PROJECT,
      env: { ...env, PATH: path },
      stdio: "inherit",
    });
    const timer = setTimeout(() => child.kill("SIGTERM"), LONGEST_MS);
    const pass = (signal) => child.kill(signal);
    for (const signal of SIGNALS) process.on(signal, pass);
    child.on("close", (code) => {
      clearTimeout(timer);
      for (const signal of SIGNALS) process.off(signal, pass);
      settle(code ?? 1);
    });
  });
}

/** A run that ended badly without a failed test (a broken set-up, say) counts as one failure. */
function count(report, code) {
  const result = readReport(report);
  if (code !== 0 && result.failed === 0) result.failed = 1;
  return result;
}

function readReport(report) {
  try {
    const content = JSON.parse(readFileSync(report, "utf8"));
    return {
      passed: content.numPassedTests,
      failed: content.numFailedTests,
      skipped: content.numPendingTests + content.numTodoTests,
    };
  } catch {
    return { passed: 0, failed: 0, skipped: 0 };
  }
}

function readLines(file) {
  try {
    return readFileSync(file, "utf8").split("\n").filter(Boolean);
  } catch {
    return [];
  }
}
