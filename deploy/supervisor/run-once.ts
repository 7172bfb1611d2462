import { spawn } from "node:child_process";
import { StepError } from "../setup/step-error.mjs";
import type { LogFile } from "./log-file.ts";
import { quoteLog } from "./quote-log.ts";
import { NODE_ARGUMENTS } from "./services.ts";

const TIMEOUT_MS = 120_000;

/** Runs a TypeScript file to its end; a StepError with its last lines when it fails. */
export function runOnce(options: {
  title: string;
  program: string;
  env: NodeJS.ProcessEnv;
  log: LogFile;
  signal: AbortSignal;
}): Promise<void> {
  const { title, program, env, log, signal } = options;
  return new Promise((settle, refuse) => {
    const child = spawn(process.execPath, [...NODE_ARGUMENTS, program], {
      env,
      signal,
      timeout: TIMEOUT_MS,
      stdio: ["ignore", "pipe", "pipe"],
    });
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => log.write(chunk));
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => log.write(chunk));
    child.once("error", refuse);
    child.once("close", (code, how) => {
      if (code === 0) return settle();
      const end = how ? `was ended by ${how}` : `ended with exit code ${code}`;
      refuse(new StepError(`${title} ${end}${quoteLog(log.recent(8))}`, `its log is ${log.path}`));
    });
  });
}
