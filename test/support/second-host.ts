import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { canRead } from "../../deploy/supervisor/readable-copy.ts";
import { countStart } from "./count-start.ts";
import { ownedPartitions } from "./owned-partitions.ts";
import { until } from "./until.ts";
import type { WholeService } from "./whole-service.ts";

const MAIN = resolve(import.meta.dirname, "../../src/main.ts");
const PRELOADS = ["skewed-clock.ts", "routed-sockets.ts"].flatMap((name) => [
  "--import",
  pathToFileURL(resolve(import.meta.dirname, name)).href,
]);

export interface SecondHostOptions {
  /** By how much its wall clock is wrong. */
  readonly skewMs?: number;
  /** Where its connections to a port go instead. */
  readonly routes?: Readonly<Record<number, number>>;
  /** For its log, if anybody wants it. */
  readonly logFile?: string;
  /** Of whose settings it takes its own. */
  readonly like?: "main" | "sessions-1";
}

/** Another process with the role `sessions` beside a whole service, on the same servers. */
export class SecondHost {
  readonly #child: ChildProcess;
  #opsUrl = "";

  private constructor(child: ChildProcess) {
    this.#child = child;
    let text = "";
    child.stdout?.on("data", (data: Buffer) => {
      text += data.toString();
      const line = text.split("\n").find((each) => each.includes('"event":"ready"'));
      if (line?.endsWith("}")) {
        this.#opsUrl = (JSON.parse(line) as { ops_url: string }).ops_url;
      }
    });
  }

  static async start(service: WholeService, options: SecondHostOptions = {}): Promise<SecondHost> {
    countStart();
    const { skewMs = 0, routes = {}, logFile, like = "main" } = options;
    const settings = readFileSync(`/proc/${service.ready.pids[like]}/environ`, "utf8");
    const entries = settings.split("\0").map((each) => each.split(/=(.*)/s).slice(0, 2));
    const own = {
      ...{ ROLES: "sessions", OPS_PORT: "0", GRPC_SESSIONS_PORT: "0", NODE_NAME: "two" },
      ALLOW_ROOT: "1",
      TEST_CLOCK_SKEW_MS: String(skewMs),
      TEST_SOCKET_ROUTES: JSON.stringify(routes),
    };
    const args = ["--disable-warning=ExperimentalWarning", ...PRELOADS, MAIN];
    const user = userOf(service.ready.pids[like] ?? 0);
    const child = spawn(process.execPath, args, {
      // What it writes into the common folder, the other one has to read.
      ...(canRead(user, [MAIN]) ? user : {}),
      env: { ...Object.fromEntries(entries.filter(([name]) => name)), ...own },
      stdio: ["ignore", "pipe", "ignore"],
    });
    if (logFile !== undefined) child.stdout.pipe(createWriteStream(logFile, { flags: "a" }));
    const host = new SecondHost(child);
    await until(() => host.#opsUrl !== "", "the second host", 60_000);
    return host;
  }

  owned(): Promise<number> {
    return ownedPartitions(this.#opsUrl);
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = once(this.#child, "exit");
    this.#child.kill(signal);
    await exited;
  }
}

function userOf(pid: number): { uid: number; gid: number } {
  const text = readFileSync(`/proc/${pid}/status`, "utf8");
  const id = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(text)?.[1]);
  return { uid: id("Uid"), gid: id("Gid") };
}
