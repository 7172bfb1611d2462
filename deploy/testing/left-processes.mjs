import { readdirSync, readFileSync } from "node:fs";
import process from "node:process";

const POLL_MS = 200;

/**
 * Ends what a run of tests left running: every process whose environment still holds the run's own
 * mark. Linux only; elsewhere nothing is found.
 * @param {string} mark `NAME=value` of an environment variable that only this run's processes have
 * @param {number} patienceMs how long they may take to end by themselves
 * @returns {Promise<string[]>} the command lines of those that had to be ended
 */
export async function endLeftProcesses(mark, patienceMs) {
  const deadline = performance.now() + patienceMs;
  let left = findMarked(mark);
  while (left.length > 0 && performance.now() < deadline) {
    await new Promise((wake) => setTimeout(wake, POLL_MS));
    left = findMarked(mark);
  }
  for (const { pid } of left) kill(pid);
  return left.map(({ command }) => command);
}

function findMarked(mark) {
  return processNumbers().flatMap((pid) => {
    try {
      const environment = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
      if (!environment.includes(mark)) return [];
      const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
      return command === "" ? [] : [{ pid, command }];
    } catch {
      return []; // it has ended, or is somebody else's
    }
  });
}

function processNumbers() {
  try {
    const names = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
    return names.map(Number).filter((pid) => pid !== process.pid);
  } catch {
    return [];
  }
}

function kill(pid) {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // it has ended by itself
  }
}
