import { type ChildProcess, spawn } from "node:child_process";
import type { Launch } from "./part.ts";
import { NODE_ARGUMENTS } from "./services.ts";

const STOP_WAIT_MS = 500;

/** The `voice demo` command in this terminal. */
export class Demo {
  readonly #child: ChildProcess;
  /** Its exit code; 1 when a signal ended it. */
  readonly ended: Promise<number>;

  /** `launch` gives how a program on Node is started with these arguments. */
  constructor(
    cli: string,
    baseUrl: string,
    speed: number,
    launch: (args: readonly string[]) => Launch,
  ) {
    const { program, args, ...options } = launch([
      ...NODE_ARGUMENTS,
      cli,
      ...["demo", "--base-url", baseUrl, "--speed", String(speed)],
    ]);
    this.#child = spawn(program, args, { ...options, stdio: ["ignore", "inherit", "inherit"] });
    this.ended = new Promise((settle) => {
      this.#child.once("error", () => settle(1));
      this.#child.once("exit", (code) => settle(code ?? 1));
    });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  async stop(): Promise<void> {
    this.#child.kill("SIGTERM");
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), STOP_WAIT_MS);
    await this.ended;
    clearTimeout(timer);
  }
}
