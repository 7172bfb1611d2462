import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

export interface ServiceAddress {
  readonly base_url: string;
  readonly admin: { readonly email: string; readonly password: string };
  /** By the part's name. */
  readonly pids: Readonly<Record<string, number>>;
}

const START_LIMIT_MS = 300_000;
const STOP_LIMIT_MS = 20_000;
const KEPT_OUTPUT = 4_000;

/** The whole service with data of its own, started as a person would: `npm run up`. */
export class RunningService {
  readonly address: ServiceAddress;
  readonly #child: ChildProcess;
  readonly #folder: string;

  private constructor(child: ChildProcess, folder: string, address: ServiceAddress) {
    this.#child = child;
    this.#folder = folder;
    this.address = address;
  }

  /** Throws with the last output when the service does not become ready within 5 min. */
  static async start(project: string, env: NodeJS.ProcessEnv = {}): Promise<RunningService> {
    const folder = mkdtempSync(join(tmpdir(), "voice-eval-"));
    const ready = join(folder, "ready.json");
    const flags = ["--no-demo", "--data", join(folder, "data"), "--port", "0"];
    const child = spawn("npm", ["run", "up", "--", ...flags, "--ready-file", ready], {
      cwd: project,
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
      // Its own group, so that npm and what it started can be stopped together.
      detached: true,
    });
    // In a group of its own it does not hear the terminal's Ctrl-C.
    for (const name of ["SIGINT", "SIGTERM"] as const) {
      process.once(name, () => void stop(child, folder).finally(() => process.exit(130)));
    }
    let output = "";
    const keep = (data: Buffer) => {
      output = (output + data.toString()).slice(-KEPT_OUTPUT);
    };
    child.stdout?.on("data", keep);
    child.stderr?.on("data", keep);
    try {
      const address = await readyFile(child, ready);
      return new RunningService(child, folder, address);
    } catch (error) {
      await stop(child, folder);
      throw new Error(`the service did not start:\n${output}`, { cause: error });
    }
  }

  /** What a part has logged so far, by its name: lines of JSON. */
  log(part: string): string[] {
    const text = readFileSync(join(this.#folder, "data", "logs", `${part}.log`), "utf8");
    return text.split("\n").filter((line) => line.startsWith("{"));
  }

  /** Asks it to stop; what it leaves on disk is deleted. */
  stop(): Promise<void> {
    return stop(this.#child, this.#folder);
  }
}

async function readyFile(child: ChildProcess, file: string): Promise<ServiceAddress> {
  let failure: Error | undefined;
  child.once("error", (error) => {
    failure = error;
  });
  const deadline = performance.now() + START_LIMIT_MS;
  while (performance.now() < deadline) {
    if (failure) throw failure;
    if (hasEnded(child)) throw new Error(`it ended with ${child.exitCode ?? child.signalCode}`);
    if (existsSync(file)) return JSON.parse(readFileSync(file, "utf8")) as ServiceAddress;
    await delay(100);
  }
  throw new Error("not ready in time");
}

/**
 * Waits for the whole group: npm ends at once, while the supervisor behind it still stops its
 * parts, and a supervisor that is killed leaves them running.
 */
async function stop(child: ChildProcess, folder: string): Promise<void> {
  if (child.pid !== undefined) {
    signalGroup(child.pid, "SIGTERM");
    const deadline = performance.now() + STOP_LIMIT_MS;
    while (signalGroup(child.pid, 0) && performance.now() < deadline) await delay(50);
    signalGroup(child.pid, "SIGKILL");
  }
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

/** False when no process of the group is left. */
function signalGroup(leader: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-leader, signal);
    return true;
  } catch {
    return false;
  }
}
