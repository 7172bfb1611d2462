import { spawn } from "node:child_process";
import { constants } from "node:os";
import process from "node:process";
import { wasInterrupted } from "./command.mjs";
import { PROJECT, pinnedNode } from "./paths.mjs";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"];

/**
 * Goes on in the pinned Node 22 with the TypeScript file `entry`. Signals are passed on; the IPC
 * channel tells the child when this process is gone, so that nothing is left without an owner.
 * @returns {Promise<number>} the exit code
 */
export function handOver(entry, args, { env = process.env, owned = true } = {}) {
  if (wasInterrupted()) return Promise.resolve(130);
  return new Promise((settle) => {
    const child = spawn(pinnedNode(), ["--disable-warning=ExperimentalWarning", entry, ...args], {
      cwd: owned ? PROJECT : undefined,
      env,
      stdio: owned ? ["inherit", "inherit", "inherit", "ipc"] : "inherit",
    });
    for (const signal of SIGNALS) process.on(signal, () => child.kill(signal));
    child.on("error", (error) => {
      process.stderr.write(`cannot start ${pinnedNode()}: ${error.message}\n`);
      settle(1);
    });
    child.on("exit", (code, signal) => {
      settle(code ?? 128 + (constants.signals[signal] ?? 0));
    });
  });
}
