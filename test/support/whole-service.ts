import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, openSync, readFileSync } from "node:fs";
import { chmod, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { PARTITIONS } from "../../src/base/partition.ts";
import { countStart } from "./count-start.ts";
import { ownedPartitions } from "./owned-partitions.ts";
import type { TestService } from "./test-service.ts";
import { until } from "./until.ts";

const PROJECT = resolve(import.meta.dirname, "../..");
const START_MS = 120_000;

/** In a cluster front-1, sessions-1, worker-1, nats-1 and so on. */
export type PartName = "main" | "worker" | "nats" | "postgres" | `${string}-${number}`;

export interface ReadyFile {
  base_url: string;
  live_url: string;
  grpc_worker: string;
  grpc_sessions: string;
  ops_url: string;
  admin: { email: string; password: string };
  supervisor: number;
  fronts: { base_url: string; live_url: string; ops_url: string }[];
  hosts: { ops_url: string }[];
  pids: Record<PartName, number>;
}

/** The whole service, started as a person starts it, with a data folder and ports of its own. */
export class WholeService implements TestService {
  readonly folder: string;
  /** None when another process started it. */
  readonly #child: ChildProcess | undefined;

  private constructor(folder: string, child?: ChildProcess) {
    this.folder = folder;
    this.#child = child;
  }

  /** One that runs: `folder` is that of the `WholeService` that started it. */
  static shared(folder: string): WholeService {
    return new WholeService(folder);
  }

  /**
   * `layDown` fills the data folder, which is not there yet, before the start. Where another program
   * takes one of its free ports before it does, it is started once more.
   */
  static async start(
    env: NodeJS.ProcessEnv = {},
    layDown?: (data: string) => Promise<void>,
  ): Promise<WholeService> {
    const start = () => WholeService.#startOnce(env, layDown);
    return start().catch((error: unknown) => {
      if (!/is taken (by|or not)|EADDRINUSE/.test(String(error))) throw error;
      return start();
    });
  }

  static async #startOnce(
    env: NodeJS.ProcessEnv,
    layDown?: (data: string) => Promise<void>,
  ): Promise<WholeService> {
    countStart();
    const folder = await mkdtemp(join(tmpdir(), "voice-e2e-"));
    // PostgreSQL, as another user below root, has to pass through.
    await chmod(folder, 0o711);
    const data = join(folder, "data");
    await layDown?.(data);
    const args = ["--no-demo", "--port", "0", "--data", data, "--ready-file", readyPath(folder)];
    const output = openSync(outputPath(folder), "w");
    const child = spawn(process.execPath, ["deploy/up.mjs", ...args], {
      cwd: PROJECT,
      env: { ...process.env, VOICE_NO_ENV_FILE: "1", RATE_LIMIT_FACTOR: "20", ...env },
      stdio: ["ignore", output, output],
    });
    closeSync(output);
    // A run that is interrupted ends without the set-up's own end.
    const end = () => child.kill("SIGTERM");
    process.once("exit", end);
    child.once("exit", () => process.off("exit", end));
    const service = new WholeService(folder, child);
    await until(() => existsSync(readyPath(folder)) || child.exitCode !== null, "ready", START_MS);
    if (child.exitCode !== null) throw new Error(`The service did not start:\n${service.output}`);
    return service;
  }

  get ready(): ReadyFile {
    return JSON.parse(readFileSync(readyPath(this.folder), "utf8")) as ReadyFile;
  }

  /** What the supervisor said of late. */
  get output(): string {
    return readFileSync(outputPath(this.folder), "utf8").slice(-20_000);
  }

  get api(): string {
    return `${this.ready.base_url}/api`;
  }

  /** Kills a part with SIGKILL and returns its process id. */
  kill(part: PartName): number {
    return this.signal(part, "SIGKILL");
  }

  signal(part: PartName, signal: NodeJS.Signals): number {
    const pid = this.ready.pids[part];
    if (!pid) throw new Error(`${part} is not running`);
    process.kill(pid, signal);
    return pid;
  }

  /** Resolves when the supervisor has put another process in the place of `pid`. */
  async replaced(part: PartName, pid: number): Promise<void> {
    const back = until(() => this.#isAnother(part, pid), `${part} to come back`, 60_000);
    await back.catch((error: unknown) => {
      throw new Error(`The supervisor said:\n${this.output}`, { cause: error });
    });
  }

  /** A part that is down has no process id. */
  #isAnother(part: PartName, pid: number): boolean {
    const now = this.ready.pids[part] ?? pid;
    return now !== pid;
  }

  /** Every host owns its share of the partitions. */
  async balanced(ms: number): Promise<void> {
    let owned: number[] = [];
    const isBalanced = async (): Promise<boolean> => {
      const { hosts } = this.ready;
      owned = await Promise.all(hosts.map(({ ops_url }) => ownedPartitions(ops_url)));
      return owned.every((each) => each === PARTITIONS / owned.length);
    };
    await until(isBalanced, "all hosts to own their share", ms).catch((cause: unknown) => {
      const said = owned.map((each, n) =>
        [`host ${n + 1} owns ${each}:`, this.#newest(n)].join("\n"),
      );
      throw new Error(said.join("\n"), { cause });
    });
  }

  /** What a host said of late. */
  #newest(host: number): string {
    const file = join(this.folder, "data/logs", `sessions-${host + 1}.log`);
    return readFileSync(file, "utf8").split("\n").slice(-25).join("\n");
  }

  /** Lines of a part's log, parsed. */
  async log(part: "main" | "worker"): Promise<{ level: string; msg: string }[]> {
    const text = await readFile(join(this.folder, "data/logs", `${part}.log`), "utf8");
    return text
      .split("\n")
      .filter((line) => line.startsWith("{"))
      .map((line) => JSON.parse(line) as { level: string; msg: string });
  }

  /** Of both parts the newest lines of their logs that are warnings or worse. */
  async complaints(): Promise<string[]> {
    const lines = await Promise.all(
      (["main", "worker"] as const).map(async (part) => {
        const all = await this.log(part).catch(() => []);
        const bad = all.filter(({ level }) => !["debug", "info"].includes(level));
        return bad.slice(-15).map((line) => `${part} ${JSON.stringify(line)}`);
      }),
    );
    return lines.flat();
  }

  /** Every part runs and is well again, for the next file. */
  async healthy(): Promise<void> {
    let newest = "";
    const isWell = async (): Promise<boolean> => {
      try {
        const answer = await fetch(`${this.api}/health`, { signal: AbortSignal.timeout(5_000) });
        newest = await answer.text();
        return (JSON.parse(newest) as { status: string }).status === "ok";
      } catch (error) {
        newest = String(error);
        return false;
      }
    };
    await until(isWell, "the service to be healthy", START_MS).catch((cause: unknown) => {
      throw new Error(`${newest}\nThe supervisor said:\n${this.output}`, { cause });
    });
  }

  /** Leaves one that another process started as it is. */
  async stop(): Promise<void> {
    if (this.#child === undefined) return;
    if (this.#child.exitCode === null) {
      const exited = once(this.#child, "exit");
      this.#child.kill("SIGTERM");
      await exited;
    }
    // For a look at the logs: VOICE_KEEP_E2E=1 npm test -- e2e
    if (process.env.VOICE_KEEP_E2E === undefined) {
      await rm(this.folder, { recursive: true, force: true });
    }
  }
}

function readyPath(folder: string): string {
  return join(folder, "ready.json");
}

function outputPath(folder: string): string {
  return join(folder, "output.txt");
}
