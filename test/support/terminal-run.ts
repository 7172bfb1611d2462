import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { TerminalScreen } from "./terminal-screen.ts";
import { until } from "./until.ts";

const CLI = join(import.meta.dirname, "../../src/cli/main.ts");
const PATIENT_MS = 120_000;
const CTRL_C = "\u0003";

export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

/**
 * The `voice` command on a pseudo-terminal (`script`, which every Debian has), with the screen as a
 * person would see it. A shell's prompt follows its end, and stands in the last row.
 */
export class TerminalRun {
  readonly screen: TerminalScreen;
  readonly #child: ChildProcess;
  readonly #device: string;
  readonly ended: Promise<number>;

  private constructor(child: ChildProcess, device: string, { columns, rows }: TerminalSize) {
    this.screen = new TerminalScreen(columns, rows);
    this.#child = child;
    this.#device = device;
    child.stdout?.on("data", (bytes: Buffer) => this.screen.write(bytes));
    this.ended = once(child, "close").then(([code]) => Number(code));
  }

  /** `folder` is the command's home. */
  static async start(
    folder: string,
    args: readonly string[],
    size: TerminalSize,
    env: NodeJS.ProcessEnv = {},
  ): Promise<TerminalRun> {
    const name = join(folder, `tty-${process.hrtime.bigint()}`);
    const voice = [process.execPath, "--disable-warning=ExperimentalWarning", CLI, ...args];
    const command = [
      "trap : INT",
      `stty cols ${size.columns} rows ${size.rows}`,
      `tty > ${quoted(name)}`,
      `${voice.map(quoted).join(" ")}; code=$?`,
      "printf 'prompt>'; exit $code",
    ].join("; ");
    const child = spawn("script", ["-qefc", command, "/dev/null"], {
      env: { PATH: process.env.PATH, TERM: "xterm", XDG_CONFIG_HOME: folder, ...env },
      stdio: ["pipe", "pipe", "inherit"],
    });
    const told = () => existsSync(name) && readFileSync(name, "utf8").endsWith("\n");
    const run = new TerminalRun(child, name, size);
    await until(told, "the terminal", PATIENT_MS);
    return run;
  }

  /** The window's size changes: the terminal knows first, and then the command is told. */
  async resize(columns: number, rows: number): Promise<void> {
    await this.screen.resize(columns, rows);
    const device = readFileSync(this.#device, "utf8").trim();
    spawnSync("stty", ["-F", device, "cols", String(columns), "rows", String(rows)]);
  }

  interrupt(): void {
    this.#child.stdin?.write(CTRL_C);
  }

  async shows(what: RegExp): Promise<void> {
    const isShown = async () => (await this.screen.lines()).some((line) => what.test(line));
    try {
      await until(isShown, String(what), PATIENT_MS);
    } catch (error) {
      const lines = await this.screen.lines();
      throw new Error(`It does not show ${what}:\n${lines.join("\n")}`, { cause: error });
    }
  }

  /** What stands on the screen above the prompt after the end, which is in the last row. */
  async left(): Promise<{ code: number; lines: string[] }> {
    const code = await this.ended;
    const lines = await this.screen.lines();
    if (lines.at(-1) !== "prompt>") throw new Error(`Below the prompt:\n${lines.join("\n")}`);
    return { code, lines: lines.slice(0, -1) };
  }

  async stop(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.ended;
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
