import { spawn } from "node:child_process";
import { StepError } from "../setup/step-error.mjs";
import type { LogFile } from "./log-file.ts";
import type { Launch } from "./part.ts";
import { quoteLog } from "./quote-log.ts";

/** Migrations of a large database take minutes, and one that is ended starts over at the next start. */
const TIMEOUT_MS = 30 * 60_000;

/** More than a set-up ever prints. */
const MAX_OUTPUT = 64 * 1024;

/** Runs a program to its end and returns what it printed; a StepError with its last lines when it fails. */
export function runOnce(options: {
  title: string;
  launch: Launch;
  log: LogFile;
  signal: AbortSignal;
}): Promise<string> {
  const { title, launch, log, signal } = options;
  const { program, args, ...rest } = launch;
  return new Promise((settle, refuse) => {
    const child = spawn(program, args, {
      ...rest,
      signal,
      timeout: TIMEOUT_MS,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      output = (output + chunk).slice(-MAX_OUTPUT);
      log.write(chunk);
    });
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => log.write(chunk));
    child.once("error", refuse);
    child.once("close", (code, how) => {
      if (code === 0) return settle(output);
      const end = how ? `was ended by ${how}` : `ended with exit code ${code}`;
      refuse(new StepError(`${title} ${end}${quoteLog(log.recent(8))}`, `its log is ${log.path}`));
    });
  });
}
