import { type ChildProcess, execFile, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { promisify } from "node:util";
import { until } from "./until.ts";

const PROJECT = resolve(import.meta.dirname, "../..");
const START_MS = 120_000;
const STEP_MS = 60_000;

/** The fenced blocks of one language in a section of a paper, in their order. */
export function readmeBlocks(section: string, language: string, paper: string): string[] {
  const page = readFileSync(resolve(PROJECT, paper), "utf8");
  const [, after = ""] = page.split(`\n## ${section}\n`);
  const [text = ""] = after.split("\n## ");
  return [...text.matchAll(/^```(\w+)\n(.*?)^```$/gms)]
    .filter(([, found]) => found === language)
    .map(([, , block = ""]) => block);
}

/** With what a reader would put in: places, names and passwords of its own. */
export function fillIn(block: string, values: Readonly<Record<string, string>>): string {
  return Object.entries(values).reduce((text, [from, to]) => text.replaceAll(from, to), block);
}

/** Lines of a `.env` file as an environment. */
export function settingsOf(block: string): Record<string, string> {
  const lines = block.split("\n").filter((line) => line.includes("="));
  return Object.fromEntries(lines.map((line) => line.split(/=(.*)/s).slice(0, 2)));
}

/** Runs a step as a person does, in a shell; rejects with what it said when it fails. */
export async function runStep(
  commands: string,
  options: { cwd?: string; env?: NodeJS.ProcessEnv; timeout?: number } = {},
): Promise<string> {
  const run = promisify(execFile);
  const { cwd = PROJECT, env = {}, timeout = STEP_MS } = options;
  const { stdout } = await run("bash", ["-ec", commands], {
    cwd,
    env: { ...process.env, VOICE_NO_ENV_FILE: "1", ...env },
    timeout,
  });
  return stdout;
}

/** A command that goes on until it is stopped, started in a shell of its own. */
export class RunningStep {
  readonly #child: ChildProcess;
  /** It ended, and all that it said is in `output`. */
  #isOver = false;
  output = "";

  constructor(commands: string, env: NodeJS.ProcessEnv) {
    this.#child = spawn("bash", ["-ec", commands], {
      cwd: PROJECT,
      env: { ...process.env, VOICE_NO_ENV_FILE: "1", ...env },
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    const take = (data: Buffer) => {
      this.output += data.toString();
    };
    this.#child.stdout?.on("data", take);
    this.#child.stderr?.on("data", take);
    this.#child.once("close", () => {
      this.#isOver = true;
    });
  }

  /** What it says may come after what it does. */
  async says(text: string): Promise<void> {
    await until(() => this.output.includes(text), text, STEP_MS);
  }

  /** Until `isThere`; rejects with what it said when it ends before. */
  async ready(isThere: () => boolean): Promise<void> {
    await until(() => isThere() || this.#isOver, "ready", START_MS);
    if (!isThere()) throw new Error(`It ended:\n${this.output}`);
  }

  async ended(): Promise<void> {
    await until(() => this.#isOver, "the end", START_MS);
  }

  /** As Ctrl-C does: all that the shell started in the foreground is told. */
  async stop(): Promise<void> {
    const { pid } = this.#child;
    if (pid === undefined || !isGroupAlive(pid)) return;
    process.kill(-pid, "SIGINT");
    await until(() => !isGroupAlive(pid), "the stop", STEP_MS);
  }
}

function isGroupAlive(pid: number): boolean {
  try {
    process.kill(-pid, 0);
    return true;
  } catch {
    return false;
  }
}
