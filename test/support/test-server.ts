import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";
import type { Launch, Part } from "../../deploy/supervisor/part.ts";
import { noteServer } from "./scratch-folder.ts";

const PROBE_EVERY_MS = 50;
const STOP_WITHIN_MS = 5_000;

/** A supervisor's part, run by a test: started, killed and started again on the same port. */
export class TestServer {
  readonly #part: Part;
  readonly #folder: string;
  #child: ChildProcess | undefined;

  constructor(part: Part, folder: string) {
    this.#part = part;
    this.#folder = folder;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  async start(): Promise<void> {
    const child = this.#spawn(this.#part.launch());
    this.#child = child;
    const deadline = performance.now() + this.#part.readyTimeoutMs;
    while (!(await this.#part.probe?.())) {
      const late = performance.now() > deadline;
      if (late || child.exitCode !== null || child.signalCode !== null) {
        await this.kill9();
        throw this.#failure();
      }
      await new Promise((wake) => setTimeout(wake, PROBE_EVERY_MS));
    }
  }

  /** SIGKILL, and gone when this returns. */
  async kill9(): Promise<void> {
    await this.#end("SIGKILL");
  }

  async stop(): Promise<void> {
    const timer = setTimeout(() => this.#child?.kill("SIGKILL"), STOP_WITHIN_MS);
    await this.#end(this.#part.stop[0]?.signal ?? "SIGTERM");
    clearTimeout(timer);
  }

  #spawn({ program, args, ...options }: Launch): ChildProcess {
    const log = openSync(this.#part.logFile, "a");
    const child = spawn(program, args, { ...options, stdio: ["ignore", log, log] });
    closeSync(log);
    child.on("error", () => undefined);
    if (child.pid !== undefined) noteServer(this.#folder, child.pid);
    return child;
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, "exit");
    child.kill(signal);
    await gone;
  }

  #failure(): Error {
    const lines = readFileSync(this.#part.logFile, "utf8").trim().split("\n").slice(-8);
    return new Error(`${this.#part.title} did not start:\n${lines.join("\n")}`);
  }
}
