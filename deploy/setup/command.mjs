import { spawn } from "node:child_process";
import process from "node:process";

const KEPT = 64 * 1024;
const OBEY_WITHIN_MS = 1_500;
const INTERRUPTED = { code: 130, output: "interrupted" };

const running = new Set();
let interrupted = false;

/** After a Ctrl-C: ends the programs that run, and lets no other start. */
export function interruptCommands() {
  interrupted = true;
  for (const child of running) {
    child.kill("SIGTERM");
    // npm goes on with what it does for as long as it takes
    setTimeout(() => child.kill("SIGKILL"), OBEY_WITHIN_MS).unref();
  }
}

export function wasInterrupted() {
  return interrupted;
}

/**
 * Runs a program to its end and keeps the tail of what it prints.
 * @returns {Promise<{code: number, output: string}>} code 127 when it is not there, 124 when it
 *   took longer than `timeoutMs`.
 */
export function command(program, args, { cwd, env = process.env, timeoutMs, onLine } = {}) {
  if (interrupted) return Promise.resolve(INTERRUPTED);
  return new Promise((settle) => {
    let output = "";
    const child = spawn(program, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
    running.add(child);
    const timer = setTimeout(() => {
      output += `\nstopped after ${timeoutMs / 1000} s`;
      child.kill("SIGKILL");
    }, timeoutMs ?? 600_000);
    const take = (chunk) => {
      output = (output + chunk).slice(-KEPT);
      const line = String(chunk).trim().split("\n").at(-1);
      if (line) onLine?.(line);
    };
    child.stdout.setEncoding("utf8").on("data", take);
    child.stderr.setEncoding("utf8").on("data", take);
    child.on("error", (error) => {
      clearTimeout(timer);
      running.delete(child);
      settle({ code: 127, output: error.message });
    });
    child.on("close", (code) => {
      clearTimeout(timer);
      running.delete(child);
      settle({ code: code ?? 124, output });
    });
  });
}

/** The last lines of what a program printed, for a person to read. */
export function tail(output, lines = 8) {
  return output
    .trim()
    .split("\n")
    .slice(-lines)
    .map((line) => `    ${line}`)
    .join("\n");
}
