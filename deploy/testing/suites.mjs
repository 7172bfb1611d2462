import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import process from "node:process";
import { PROJECT, pinnedNode } from "../setup/paths.mjs";
import { endLeftProcesses } from "./left-processes.mjs";
import { NIGHTLY_PROJECTS, PROJECTS } from "./projects.mjs";

const LONGEST_MS = 80 * 60_000;
/** Browsers and databases may still be ending when the tests have. */
const LEAVE_WITHIN_MS = 10_000;
/** Where installations of the tests are noted; its value also marks the processes of a run. */
const STARTS = "VOICE_TEST_STARTS";
const STANDS_BESIDE = new Set(
  [...PROJECTS, ...NIGHTLY_PROJECTS].filter(({ isBeside }) => isBeside).map(({ name }) => name),
);
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"];

/** Of the run whose output is held back; beyond it the beginning is dropped. */
const KEPT_OUTPUT = 4 * 1024 * 1024;

/**
 * Runs projects of vitest.config.ts in this terminal: those that stand beside others at the same time as
 * those, in a vitest of their own, because one vitest has one number of workers at a time. What that one
 * prints comes when it has ended.
 * @param {readonly string[]} projects their names
 * @param {readonly string[]} passedOn further arguments of vitest
 * @returns {Promise<{passed: number, failed: number, skipped: number, installations: string[],
 *   left: string[]}>} counts of tests, a line for each installation that they started, and the
 *   command lines of processes that they left running (ended here)
 */
export async function runSuites(projects, passedOn, env) {
  const folder = mkdtempSync(join(tmpdir(), "voice-report-"));
  const starts = join(folder, "starts");
  try {
    // The recogniser's runtime has telemetry, which threads of tests cannot switch off themselves.
    // Processes and threads of one run load the same sources hundreds of times.
    const compiled = join(folder, "compiled");
    const own = {
      ...{ ...env, [STARTS]: starts, ORT_DISABLE_TELEMETRY: "1" },
      NODE_COMPILE_CACHE: compiled,
    };
    const [first, ...beside] = splitRuns(projects);
    const run = async (names, isHeldBack) => {
      const report = join(folder, `${names[0]}.json`);
      return count(report, await runVitest(names, report, passedOn, own, isHeldBack));
    };
    const counts = await Promise.all([
      run(first, false),
      ...beside.map((names) => run(names, true)),
    ]);
    const left = await endLeftProcesses(`${STARTS}=${starts}`, LEAVE_WITHIN_MS);
    const sum = (key) => counts.reduce((total, each) => total + each[key], 0);
    return {
      ...{ passed: sum("passed"), failed: sum("failed"), skipped: sum("skipped") },
      ...{ installations: readLines(starts), left },
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The projects of each vitest, of which there is at least one. */
function splitRuns(projects) {
  const beside = projects.filter((name) => STANDS_BESIDE.has(name));
  const others = projects.filter((name) => !STANDS_BESIDE.has(name));
  return [others, beside].filter((names) => names.length > 0);
}

function runVitest(projects, report, passedOn, env, isHeldBack) {
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
      stdio: isHeldBack ? ["ignore", "pipe", "pipe"] : "inherit",
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding("utf8").on("data", (text) => {
        output = (output + text).slice(-KEPT_OUTPUT);
      });
    }
    const timer = setTimeout(() => child.kill("SIGTERM"), LONGEST_MS);
    const pass = (signal) => child.kill(signal);
    for (const signal of SIGNALS) process.on(signal, pass);
    child.on("close", (code) => {
      clearTimeout(timer);
      for (const signal of SIGNALS) process.off(signal, pass);
      process.stdout.write(output);
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
