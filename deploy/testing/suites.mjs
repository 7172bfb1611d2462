import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import process from "node:process";
import { PROJECT, pinnedNode } from "../setup/paths.mjs";

/** Projects of vitest.config.ts, in the order in which they run. */
export const SUITES = ["unit", "contract", "integration", "attacks", "sim", "e2e"];

const LONGEST_MS = 45 * 60_000;
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"];

/** Runs one vitest project in this terminal and counts its tests. */
export async function runSuite(screen, name, passedOn, env) {
  screen.line(`\n${screen.paint("1", name)}`);
  const startedAt = performance.now();
  const folder = mkdtempSync(join(tmpdir(), "voice-report-"));
  const report = join(folder, "report.json");
  try {
    const code = await runVitest(name, report, passedOn, env);
    const result = count(report, code);
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    const mark = result.failed > 0 ? screen.paint("31", "✗") : screen.paint("32", "✓");
    screen.line(`${mark} ${name}: ${result.passed} passed, ${result.failed} failed (${seconds} s)`);
    return result;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function runVitest(name, report, passedOn, env) {
  const args = [
    "--disable-warning=ExperimentalWarning",
    join(PROJECT, "node_modules/vitest/vitest.mjs"),
    "run",
    `--project=${name}`,
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
