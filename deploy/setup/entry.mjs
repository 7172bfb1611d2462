import process from "node:process";
import { interruptCommands, wasInterrupted } from "./command.mjs";
import { Screen } from "./screen.mjs";
import { StepError } from "./step-error.mjs";

const PARENT_CHECK_MS = 1_000;

/** Runs a command-line entry: its number becomes the exit code, a failed step one clear message. */
export async function runEntry(work) {
  const screen = new Screen();
  // stays while the next program runs: that one decides how to stop
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, interruptCommands);
  stopWhenOrphaned();
  try {
    process.exitCode = await work(screen);
  } catch (error) {
    if (wasInterrupted()) {
      screen.line("stopped before it was done; the same command goes on from here");
      process.exitCode = 130;
      return;
    }
    if (error instanceof StepError) screen.problem(error);
    else screen.fail(error.stack ?? String(error));
    process.exitCode = 1;
  }
}

/**
 * `npm run` does not always pass a signal on: its shell may die of it and leave us alone, which
 * counts as the same wish. Started by hand (nohup, a service manager) nothing is watched.
 */
function stopWhenOrphaned() {
  if (!process.env.npm_lifecycle_event) return;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    process.emit("SIGTERM", "SIGTERM");
  }, PARENT_CHECK_MS);
  timer.unref();
}
