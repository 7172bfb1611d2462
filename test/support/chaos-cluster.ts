import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { connect } from "node:net";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { LogFile } from "../../deploy/supervisor/log-file.ts";
import type { Part } from "../../deploy/supervisor/part.ts";
import { findFreePort } from "../../deploy/supervisor/ports.ts";
import { runOnce } from "../../deploy/supervisor/run-once.ts";
import { NODE_ARGUMENTS, projectPrograms } from "../../deploy/supervisor/services.ts";
import { FaultProxy } from "./fault-proxy.ts";
import { startNats, type TestNats } from "./nats.ts";
import { startPostgres, type TestDatabase, type TestPostgres } from "./postgres.ts";
import { throughProxy } from "./proxied-address.ts";
import { makeScratchFolder } from "./scratch-folder.ts";
import { fence, Standby } from "./standby.ts";
import { TestServer } from "./test-server.ts";
import { WORKER_KEY } from "./worker-key.ts";

const PROGRAMS = projectPrograms(resolve(import.meta.dirname, "../.."));
const SKEWED_CLOCK = pathToFileURL(join(import.meta.dirname, "skewed-clock.ts")).href;
const READY_MS = 90_000;
const RESTART_EVERY_MS = 200;
const PROBE_MS = 1_000;
/** A device that is silent for so long has its session stopped; longer than any fault here. */
const AUTO_STOP_SECONDS = 120;
/** How long a server that was replaced still answers. */
const DEMOTED_MS = 5_000;
const REFUSED_CHANGE = /cannot execute .* in a read-only transaction/;
/** How far a process's log may be from where its clock should be. */
const CLOCK_SLACK_MS = 10_000;

/** Every pair of processes that talks, each through a proxy of its own. */
export const PAIRS = [
  "client-front",
  "front-postgres",
  "front-nats",
  "host1-postgres",
  "host1-nats",
  "host2-postgres",
  "host2-nats",
  "worker-nats",
  "host-worker",
] as const;

export type Pair = (typeof PAIRS)[number];

export const PARTS = ["front", "host1", "host2", "worker", "nats", "postgres"] as const;

export type PartName = (typeof PARTS)[number];

/** What a test can kill and bring back. */
interface Killable {
  kill9(): Promise<void>;
  restart(): Promise<void>;
}

/** A Node process of the service with its ports, which outlive it. */
class Process implements Killable {
  readonly #server: TestServer;
  readonly #folder: string;

  constructor(part: Part) {
    // A folder each: it says which process a later run has to end if this one is killed.
    this.#folder = makeScratchFolder(part.name);
    this.#server = new TestServer(part, this.#folder);
  }

  start(): Promise<void> {
    return this.#server.start();
  }

  kill9(): Promise<void> {
    return this.#server.kill9();
  }

  restart(): Promise<void> {
    return this.#server.start();
  }

  async stop(): Promise<void> {
    await this.#server.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** By how much the wall clock of a host is wrong, milliseconds. */
export type Skews = Readonly<Partial<Record<"host1" | "host2", number>>>;

export interface ChaosClusterOptions {
  /** For those who want to read the logs when all is over. */
  readonly logFolder?: string;
  readonly skews?: Skews;
  /** With a second PostgreSQL, so that it can be switched over once. */
  readonly standby?: boolean;
}

interface Foundation {
  standby: Standby | undefined;
  skews: Skews;
  postgres: TestPostgres;
  database: TestDatabase;
  nats: TestNats;
  folder: string;
  logs: string;
  admin: { email: string; password: string };
}

/**
 * PostgreSQL, nats-server, a front, two hosts of sessions and a worker, each a process of its own,
 * and a fault proxy between each two that talk.
 */
export class ChaosCluster {
  readonly admin: { email: string; password: string };
  readonly proxies: Readonly<Record<Pair, FaultProxy>>;
  /** Past every proxy, for those who check afterwards. */
  readonly directApi: string;
  readonly nats: TestNats;
  readonly #folder: string;
  readonly #logs: string;
  readonly #skews: Skews;
  readonly #ownerUrl: string;
  readonly #postgres: TestPostgres;
  readonly #standby: Standby | undefined;
  /** The standby, once it has taken over. */
  #promoted: Standby | undefined;
  readonly #processes: Readonly<Record<"front" | "host1" | "host2" | "worker", Process>>;

  private constructor(
    foundation: Foundation,
    proxies: Record<Pair, FaultProxy>,
    ports: ServicePorts,
  ) {
    const { postgres, database, nats, folder, logs, admin, skews } = foundation;
    this.#folder = folder;
    this.#logs = logs;
    this.#skews = skews;
    this.admin = admin;
    this.proxies = proxies;
    this.nats = nats;
    this.#postgres = postgres;
    this.#standby = foundation.standby;
    this.#ownerUrl = database.ownerUrl;
    this.directApi = `http://127.0.0.1:${ports.front}/api`;
    const environment = new ClusterEnvironment(foundation, proxies, ports);
    const main = (name: "front" | "host1" | "host2", probePort: number): Process =>
      new Process(nodePart(name, PROGRAMS.main, environment.main(name), probePort, logs));
    this.#processes = {
      front: main("front", ports.front),
      host1: main("host1", ports.ops1),
      host2: main("host2", ports.ops2),
      worker: new Process(
        nodePart("worker", PROGRAMS.worker, environment.worker(), ports.worker, logs),
      ),
    };
  }

  static async start(options: ChaosClusterOptions = {}): Promise<ChaosCluster> {
    const { logFolder, skews = {} } = options;
    const folder = makeScratchFolder("chaos");
    const logs = logFolder ?? join(folder, "logs");
    mkdirSync(logs, { recursive: true });
    for (const name of ["blobs", "keys", "mail"]) mkdirSync(join(folder, name));
    const [postgres, nats] = await Promise.all([startPostgres({ durable: true }), startNats()]);
    const database = await postgres.createEmptyDatabase();
    const standby = options.standby ? await Standby.of(postgres) : undefined;
    const admin = { email: "admin@voice.local", password: randomBytes(12).toString("hex") };
    const foundation = { postgres, database, nats, folder, logs, admin, skews, standby };
    const ports = await pickPorts();
    const proxies = await startProxies(postgres.access.port, Number(new URL(nats.url).port), ports);
    const cluster = new ChaosCluster(foundation, proxies, ports);
    try {
      await setUp(foundation, new ClusterEnvironment(foundation, proxies, ports));
      const { worker, ...others } = cluster.#processes;
      await Promise.all([worker, ...Object.values(others)].map((each) => each.start()));
    } catch (error) {
      await cluster.stop();
      throw error;
    }
    return cluster;
  }

  /** As clients reach it, through the proxy. */
  get api(): string {
    return `http://127.0.0.1:${this.proxies["client-front"].port}/api`;
  }

  /**
   * SIGKILL, and back again on the same port when this resolves. As a supervisor does it: one that cannot start because something is in the way tries again. So
   * does a PostgreSQL whose killed postmaster left processes behind that hold its memory.
   */
  async killAndRestart(part: PartName): Promise<void> {
    const killable = this.#part(part);
    const deadline = performance.now() + READY_MS;
    for (;;) {
      await killable.kill9();
      try {
        return await killable.restart();
      } catch (error) {
        if (performance.now() > deadline) throw error;
      }
      await new Promise((wake) => setTimeout(wake, RESTART_EVERY_MS));
    }
  }

  /** As the role that owns everything, on the server that takes changes. */
  get databaseUrl(): string {
    return this.#promoted?.address(this.#ownerUrl) ?? this.#ownerUrl;
  }

  /**
   * The standby takes over. Those who hold a connection to the old one are answered that it takes
   * no changes, until it goes away.
   */
  async switchOver(): Promise<void> {
    const standby = this.#standby;
    if (standby === undefined || this.#promoted !== undefined) {
      throw new Error("There is no standby any more.");
    }
    const old = this.#postgres;
    await fence(old);
    await standby.promote();
    this.#promoted = standby;
    const port = Number(new URL(standby.adminUrl).port);
    for (const pair of PAIRS) if (pair.endsWith("-postgres")) this.proxies[pair].lead(port);
    await new Promise((wake) => setTimeout(wake, DEMOTED_MS));
    const log = readFileSync(join(old.cluster.folder, "../postgres.log"), "utf8");
    await old.halt();
    if (!REFUSED_CHANGE.test(log)) throw new Error("Nobody asked the old server for a change.");
  }

  /** Where the audio files lie. */
  get blobFolder(): string {
    return join(this.#folder, "blobs");
  }

  /** Clocks that should be wrong, and by their processes' own logs are not. */
  async clockProblems(): Promise<string[]> {
    const problems: string[] = [];
    for (const [name, skew] of Object.entries(this.#skews)) {
      const file = join(this.#logs, `${name}.log`);
      const text = readFileSync(file, "utf8");
      const last =
        text
          .trimEnd()
          .split("\n")
          .findLast((line) => line.startsWith("{")) ?? "{}";
      const { time = "" } = JSON.parse(last) as { time?: string };
      const seen = Date.parse(time) - statSync(file).mtimeMs;
      if (Math.abs(seen - skew) <= CLOCK_SLACK_MS) continue;
      problems.push(`the clock of ${name} should be ${skew} ms off, its log is ${seen} ms off`);
    }
    return problems;
  }

  get #database(): Killable {
    const promoted = this.#promoted;
    if (promoted === undefined) return this.#postgres;
    const restart = () => promoted.halt().then(() => promoted.resume());
    return { kill9: () => promoted.kill9(), restart };
  }

  #part(part: PartName): Killable {
    if (part === "postgres") return this.#database;
    if (part === "nats") return this.nats;
    return this.#processes[part];
  }

  async stop(): Promise<void> {
    await Promise.all(Object.values(this.#processes).map((each) => each.stop()));
    await Promise.all(Object.values(this.proxies).map((proxy) => proxy.stop()));
    await Promise.all([this.#standby?.stop(), this.#postgres.stop(), this.nats.stop()]);
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

interface ServicePorts {
  front: number;
  ops: number;
  ops1: number;
  ops2: number;
  worker: number;
}

async function pickPorts(): Promise<ServicePorts> {
  const [front, ops, ops1, ops2, worker] = [
    await findFreePort(),
    await findFreePort(),
    await findFreePort(),
    await findFreePort(),
    await findFreePort(),
  ];
  return { front, ops, ops1, ops2, worker };
}

async function startProxies(
  postgres: number,
  nats: number,
  ports: ServicePorts,
): Promise<Record<Pair, FaultProxy>> {
  const targetOf = (pair: Pair): number => {
    if (pair === "client-front") return ports.front;
    if (pair === "host-worker") return ports.worker;
    return pair.endsWith("-nats") ? nats : postgres;
  };
  const started = PAIRS.map(async (pair) => [pair, await FaultProxy.start(pair, targetOf(pair))]);
  return Object.fromEntries(await Promise.all(started)) as Record<Pair, FaultProxy>;
}

/** What each process is told: for every address, the proxy before it. */
class ClusterEnvironment {
  readonly #foundation: Foundation;
  readonly #proxies: Record<Pair, FaultProxy>;
  readonly #ports: ServicePorts;

  constructor(foundation: Foundation, proxies: Record<Pair, FaultProxy>, ports: ServicePorts) {
    this.#foundation = foundation;
    this.#proxies = proxies;
    this.#ports = ports;
  }

  setup(): NodeJS.ProcessEnv {
    const { database, admin } = this.#foundation;
    return {
      ...process.env,
      DATABASE_URL: database.serviceUrl,
      DATABASE_OWNER_URL: database.ownerUrl,
      ADMIN_EMAIL: admin.email,
      ADMIN_PASSWORD: admin.password,
    };
  }

  main(name: "front" | "host1" | "host2"): NodeJS.ProcessEnv {
    const { database, folder, skews } = this.#foundation;
    const ops = { front: this.#ports.ops, host1: this.#ports.ops1, host2: this.#ports.ops2 };
    return {
      ...process.env,
      ALLOW_ROOT: "1",
      ...this.#nats(name),
      DATABASE_URL: throughProxy(database.serviceUrl, this.#proxies[`${name}-postgres`]),
      ROLES: name === "front" ? "front" : "sessions",
      NODE_NAME: name,
      PORT: String(this.#ports.front),
      OPS_PORT: String(ops[name]),
      GRPC_SESSIONS_PORT: "0",
      RATE_LIMIT_FACTOR: "100",
      WEBHOOK_ALLOW_PRIVATE: "true",
      AUTO_STOP_SILENCE: String(AUTO_STOP_SECONDS),
      TEST_CLOCK_SKEW_MS: String(name === "front" ? 0 : (skews[name] ?? 0)),
      VOICE_BLOB_DIR: join(folder, "blobs"),
      VOICE_MAIL_DIR: join(folder, "mail"),
      VOICE_KEY_DIR: join(folder, "keys"),
      WORKER_KEY,
    };
  }

  worker(): NodeJS.ProcessEnv {
    return {
      ...process.env,
      ALLOW_ROOT: "1",
      ...this.#nats("worker"),
      WORKER_PORT: String(this.#ports.worker),
      WORKER_ADVERTISE: `127.0.0.1:${this.#proxies["host-worker"].port}`,
      WORKER_ID: "worker-1",
      WORKER_KEY,
      WORKER_THREADS: "2",
      WORKER_SESSIONS_PER_THREAD: "8",
      MALLOC_ARENA_MAX: "1",
    };
  }

  #nats(name: "front" | "host1" | "host2" | "worker"): NodeJS.ProcessEnv {
    const { url, token } = this.#foundation.nats;
    return { NATS_URL: throughProxy(url, this.#proxies[`${name}-nats`]), NATS_TOKEN: token };
  }
}

async function setUp({ logs }: Foundation, environment: ClusterEnvironment): Promise<void> {
  const log = new LogFile(join(logs, "setup.log"), () => undefined);
  try {
    await runOnce({
      title: "The set-up",
      launch: {
        program: process.execPath,
        args: [...NODE_ARGUMENTS, PROGRAMS.setup],
        env: environment.setup(),
      },
      log,
      signal: AbortSignal.timeout(READY_MS),
    });
  } finally {
    log.close();
  }
}

/** Ready when it listens on `probePort`. */
function nodePart(
  name: string,
  program: string,
  env: NodeJS.ProcessEnv,
  probePort: number,
  logs: string,
): Part {
  return {
    name,
    title: name,
    logFile: join(logs, `${name}.log`),
    launch: () => ({
      program: process.execPath,
      args: [...NODE_ARGUMENTS, "--import", SKEWED_CLOCK, program],
      env,
    }),
    probe: async () => ((await listens(probePort)) ? {} : undefined),
    readyTimeoutMs: READY_MS,
    stop: [{ signal: "SIGTERM", waitMs: 5_000 }],
  };
}

function listens(port: number): Promise<boolean> {
  return new Promise((settle) => {
    const socket = connect({ port, host: "127.0.0.1", timeout: PROBE_MS });
    const finish = (answer: boolean) => {
      socket.destroy();
      settle(answer);
    };
    socket.once("connect", () => finish(true));
    socket.once("timeout", () => finish(false));
    socket.once("error", () => finish(false));
  });
}
