import { join } from "node:path";
import type { Part, StopStep } from "./part.ts";

/** The TypeScript files that the supervisor runs. Tests give it small ones of their own. */
export interface Programs {
  readonly setup: string;
  readonly main: string;
  readonly worker: string;
  readonly cli: string;
}

export function projectPrograms(project: string): Programs {
  return {
    setup: join(project, "src/setup.ts"),
    main: join(project, "src/main.ts"),
    worker: join(project, "workers/main.ts"),
    cli: join(project, "src/cli/main.ts"),
  };
}

/** How every TypeScript file is run: on this very Node, types stripped. */
export const NODE_ARGUMENTS: readonly string[] = [
  "--disable-warning=ExperimentalWarning",
  "--experimental-async-context-frame",
];

const STOP: readonly StopStep[] = [{ signal: "SIGTERM", waitMs: 5_200 }];

/** A Node process that prints a line of JSON whose `event` is "ready". */
export function servicePart(options: {
  name: "main" | "worker";
  title: string;
  program: string;
  env: NodeJS.ProcessEnv;
  logFile: string;
}): Part {
  return {
    name: options.name,
    title: options.title,
    logFile: options.logFile,
    launch: () => ({
      program: process.execPath,
      args: [...NODE_ARGUMENTS, options.program],
      env: options.env,
    }),
    readyTimeoutMs: 60_000,
    stop: STOP,
  };
}
