import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { identifyProcess } from "../../deploy/supervisor/process-identity.ts";
import { findNatsServer } from "./native-packages.ts";

const PROJECT = resolve(import.meta.dirname, "../..");
const ENTRY = join(import.meta.dirname, "fake-service/supervise.ts");
const POLL_MS = 25;
const WAIT_MS = 60_000;

/** What the ready file holds. */
export interface ReadyContent {
  readonly base_url: string;
  readonly supervisor: number;
  readonly fronts: readonly { base_url: string; ops_url: string; grpc_sessions: string }[];
  readonly pids: Record<"main" | "worker" | "nats" | "postgres", number> & Record<string, number>;
}

/** The real supervisor over stand-ins for the service, in a process of its own. */
export class SupervisedRun {
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown[]>;
  readonly #readyFile: string;
  output = "";

  constructor(folder: string, args: string[] = [], env: NodeJS.ProcessEnv = {}) {
    this.#readyFile = join(folder, "ready.json");
    const options = ["--data", join(folder, "data"), "--ready-file", this.#readyFile];
    this.#child = spawn(
      process.execPath,
      ["--disable-warning=ExperimentalWarning", ENTRY, ...options, ...args],
      {
        cwd: PROJECT,
        env: { ...process.env, VOICE_NATS_SERVER: findNatsServer(), ...env },
        stdio: ["ignore", "pipe", "pipe"],
      },
    );
    this.#exited = once(this.#child, "exit");
    const take = (chunk: string) => {
      this.output += chunk;
    };
    this.#child.stdout?.setEncoding("utf8").on("data", take);
    this.#child.stderr?.setEncoding("utf8").on("data", take);
  }

  /** The ready file, once `accept` likes it. */
  async ready(accept: (content: ReadyContent) => boolean = () => true): Promise<ReadyContent> {
    const deadline = performance.now() + WAIT_MS;
    for (;;) {
      const content = this.#read();
      if (content && accept(content)) return content;
      if (this.#child.exitCode !== null || performance.now() > deadline) {
        throw new Error(`the supervisor did not get ready:\n${this.output}`);
      }
      await new Promise((wake) => setTimeout(wake, POLL_MS));
    }
  }

  /** Sends the signal and waits for the end; the exit code, or null when the signal killed it. */
  async end(signal: NodeJS.Signals): Promise<number | null> {
    this.#child.kill(signal);
    return this.exit();
  }

  async exit(): Promise<number | null> {
    await this.#exited;
    return this.#child.exitCode;
  }

  #read(): ReadyContent | undefined {
    if (!existsSync(this.#readyFile)) return undefined;
    const content: ReadyContent = JSON.parse(readFileSync(this.#readyFile, "utf8"));
    return content;
  }
}

export function isAlive(pid: number): boolean {
  return identifyProcess(pid) !== undefined;
}
