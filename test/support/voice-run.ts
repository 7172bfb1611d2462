import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

const MAIN = join(import.meta.dirname, "../../src/cli/main.ts");

interface VoiceOptions {
  /** The command's home. */
  readonly folder: string;
  /** Written to its standard input, which then ends; without it there is none. */
  readonly input?: Buffer | string;
  readonly env?: NodeJS.ProcessEnv;
}

/** The `voice` command as a program in pipes. */
export class VoiceRun {
  stdout = "";
  stderr = "";
  readonly child: ChildProcess;
  readonly code: Promise<number | null>;

  constructor(args: readonly string[], { folder, input, env = {} }: VoiceOptions) {
    const flags = ["--disable-warning=ExperimentalWarning", MAIN, ...args];
    this.child = spawn(process.execPath, flags, {
      env: { PATH: process.env.PATH, XDG_CONFIG_HOME: folder, TZ: "UTC", ...env },
      stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
    });
    this.child.stdout?.on("data", (text) => {
      this.stdout += text;
    });
    this.child.stderr?.on("data", (text) => {
      this.stderr += text;
    });
    // A command that wants no more input closes it.
    this.child.stdin?.on("error", () => undefined);
    this.child.stdin?.end(input);
    this.code = once(this.child, "close").then(([code]) => code as number | null);
  }

  /** Runs the command to its end. */
  static async ended(args: readonly string[], options: VoiceOptions): Promise<VoiceRun> {
    const run = new VoiceRun(args, options);
    await run.code;
    return run;
  }

  /** Its output as NDJSON. */
  get json(): Record<string, unknown>[] {
    return this.lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  get lines(): string[] {
    return this.stdout.split("\n").slice(0, -1);
  }

  interrupt(): void {
    this.child.kill("SIGINT");
  }
}
