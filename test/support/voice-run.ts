import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import type { CommandContext } from "../../src/cli/client/command-context.ts";
import { runCommand } from "../../src/cli/program.ts";

const MAIN = join(import.meta.dirname, "../../src/cli/main.ts");

interface VoiceOptions {
  /** The command's home. */
  readonly folder: string;
  /** Written to its standard input, which then ends; without it there is none. */
  readonly input?: Buffer | string;
  readonly env?: NodeJS.ProcessEnv;
}

/** What a run of the `voice` command wrote. */
class VoiceOutput {
  stdout = "";
  stderr = "";

  /** Its output as NDJSON. */
  get json(): Record<string, unknown>[] {
    return this.lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  get lines(): string[] {
    return this.stdout.split("\n").slice(0, -1);
  }
}

export interface EndedRun extends VoiceOutput {
  readonly code: number;
}

/**
 * Runs the `voice` command to its end in this process, as with pipes for its streams: a process of
 * its own costs a second of the processor's time.
 */
export async function runVoice(args: readonly string[], options: VoiceOptions): Promise<EndedRun> {
  const output = new VoiceOutput();
  const sink = (name: "stdout" | "stderr") =>
    new Writable({
      decodeStrings: false,
      write(text: Buffer | string, _encoding, done) {
        output[name] += text;
        done();
      },
    });
  const context = {
    env: environmentOf(options),
    stdin: Readable.from(options.input === undefined ? [] : [Buffer.from(options.input)]),
    stdout: sink("stdout"),
    stderr: sink("stderr"),
    signal: new AbortController().signal,
  } as unknown as CommandContext;
  const code = await runCommand(args, context);
  return Object.assign(output, { code });
}

/** What the command writes on standard output; throws the run, with its code, when it fails. */
export async function voiceOutput(args: readonly string[], options: VoiceOptions): Promise<string> {
  const run = await runVoice(args, options);
  if (run.code !== 0) throw run;
  return run.stdout;
}

/** The `voice` command as a program in pipes. */
export class VoiceRun extends VoiceOutput {
  readonly child: ChildProcess;
  readonly code: Promise<number | null>;

  constructor(args: readonly string[], options: VoiceOptions) {
    super();
    const { input } = options;
    const flags = ["--disable-warning=ExperimentalWarning", MAIN, ...args];
    this.child = spawn(process.execPath, flags, {
      env: environmentOf(options),
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

  interrupt(): void {
    this.child.kill("SIGINT");
  }
}

function environmentOf({ folder, env = {} }: VoiceOptions): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH, XDG_CONFIG_HOME: folder, TZ: "UTC", ...env };
}
