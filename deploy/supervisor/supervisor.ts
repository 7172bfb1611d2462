import { existsSync } from "node:fs";
import type { TlsFiles } from "../../src/wire/certificate-kinds.ts";
import { buildPage } from "../setup/page.mjs";
import { runStep, type Screen } from "../setup/screen.mjs";
import { StepError } from "../setup/step-error.mjs";
import { generateWire, wireIsCurrent } from "../setup/wire.mjs";
import { prepareRpcTls, prepareTls, type TlsOf } from "./certificates.ts";
import type { Crew } from "./crew.ts";
import { DataFolder } from "./data-folder.ts";
import { EmbeddedDatabase } from "./database.ts";
import { Demo } from "./demo.ts";
import {
  type Addresses,
  adminLogin,
  Environments,
  type FirstLogin,
  type ToldLogin,
  toldLogin,
} from "./environment.ts";
import { checkDatabase, checkNats } from "./existing-servers.ts";
import { type Layout, layoutOf, servesRest } from "./layout.ts";
import { findLeftovers, stopLeftovers } from "./leftovers.ts";
import { LogFile } from "./log-file.ts";
import { musterCrew, withinReach } from "./muster.ts";
import { NatsServers } from "./nats-servers.ts";
import { natsUsers } from "./nats-users.ts";
import type { Options } from "./options.ts";
import type { Part } from "./part.ts";
import { PartReporter } from "./part-reporter.ts";
import { checkWantedPort, PortBook } from "./ports.ts";
import { removeOutsideCluster } from "./postgres/place.ts";
import { ReadyFile, readyState } from "./ready-file.ts";
import { runOnce } from "./run-once.ts";
import { RunRecord, readRunRecord } from "./run-record.ts";
import { loadSecrets } from "./secrets.ts";
import { NODE_ARGUMENTS, type Programs, planServices } from "./services.ts";
import { SourceWatch } from "./source-watch.ts";
import { SupervisedPart } from "./supervised-part.ts";
import { printWelcome } from "./welcome.ts";

const STOP_WITHIN_MS = 9_300;

export interface SupervisorSettings {
  readonly options: Options;
  readonly project: string;
  readonly programs: Programs;
  readonly env: NodeJS.ProcessEnv;
  readonly screen: Screen;
}

/**
 * Everything of one machine: starts the parts in order, restarts what dies, and stops them in
 * reverse order. `start` may be interrupted by `stop` at any point.
 */
export class Supervisor {
  readonly #settings: SupervisorSettings;
  readonly #screen: Screen;
  readonly #reporter: PartReporter;
  readonly #abort = new AbortController();
  readonly #parts = new Map<string, SupervisedPart>();
  readonly #readyFile: ReadyFile;
  readonly #data: DataFolder;
  readonly #record: RunRecord;
  readonly #environments: Environments;
  readonly #layout: Layout;
  #crew: Crew | undefined;
  #admin: ToldLogin | undefined;
  #demo: Demo | undefined;
  #endTls: () => void = () => undefined;
  #ready = false;
  #watch: SourceWatch | undefined;
  #reloading: Promise<void> = Promise.resolve();

  private constructor(settings: SupervisorSettings, data: DataFolder, record: RunRecord) {
    this.#settings = settings;
    this.#screen = settings.screen;
    this.#reporter = new PartReporter(settings.screen);
    this.#readyFile = new ReadyFile(settings.options.readyFile);
    this.#data = data;
    this.#record = record;
    this.#environments = new Environments(
      settings.options.insecure ? { ...settings.env, ALLOW_INSECURE: "1" } : settings.env,
      data,
      settings.programs.alsoRead,
    );
    this.#layout = layoutOf(settings.options.cluster);
  }

  /** Takes the data folder and ends what a killed supervisor left running on it. */
  static async open(settings: SupervisorSettings): Promise<Supervisor> {
    const { options, screen } = settings;
    let data = await DataFolder.open(options.data);
    const leftovers = findLeftovers(data.file("run.json"), data.owner);
    if (leftovers.length > 0) {
      await runStep(screen, `ending ${leftovers.length} processes of an earlier run`, async () => {
        const left = await stopLeftovers(leftovers);
        if (left.length > 0) throw outlived(left.map(({ pid }) => pid));
      });
    }
    if (options.fresh) {
      data.clear();
      if (process.getuid?.() === 0) removeOutsideCluster(data);
      screen.line(`${screen.paint("32", "✓")} ${data.path} emptied (--fresh)`);
    }
    if (wasCopiedInUse(data)) {
      screen.warn(
        "this data folder was copied while it was in use: unless that was a snapshot of one moment, its database may be damaged",
      );
    }
    data = await withinReach(data, screen);
    return new Supervisor(settings, data, new RunRecord(data.file("run.json"), data.place.folder));
  }

  async start(): Promise<void> {
    const { options, env, screen } = this.#settings;
    if (options.port !== 0) await checkWantedPort(options.port);
    const crew = musterCrew({ ...this.#settings, port: options.port }, this.#data);
    this.#crew = crew;
    const secrets = loadSecrets(this.#data.file("secrets.json"));
    const wanted = adminLogin(env, secrets);
    const ports = new PortBook(this.#data.file("ports.json"));
    const database = await this.#startDatabase(await ports.take("postgres"), secrets);
    const { tlsOf, rpcTls } = await this.#prepareTls(crew);
    const nats = await this.#startNats(ports, secrets.natsToken, crew, tlsOf);
    const workerKey = env.WORKER_KEY || secrets.workerKey;
    const at: Addresses = { ...database, ...nats, workerKey, tlsOf, rpcTls };
    const admin = await runStep(screen, "migrations, first admin, demo workspace", () =>
      this.#setUp(at, wanted, crew),
    );
    this.#admin = admin;
    const title = options.cluster ? "fronts, session hosts and workers" : "service and worker";
    await runStep(screen, title, () => this.#startServices(at, ports, crew));
    this.#ready = true;
    this.#writeReadyFile();
    const grpc = this.#toldByFront("grpc_sessions");
    printWelcome(screen, { baseUrl: this.#baseUrl, grpc, admin, data: this.#data.path });
    if (options.watch) this.#watchSources();
  }

  /** Plays the demo conversation into the terminal; the service goes on when it ends. */
  async demonstrate(): Promise<void> {
    const { options, programs } = this.#settings;
    const admin = this.#admin;
    const crew = this.#crew;
    if (!options.demo || !admin || !crew || this.#abort.signal.aborted) return;
    const { email, password } = admin.login;
    if (password === undefined) {
      return this.#screen.line("No demo: it would need the password of the administrator.");
    }
    const env = this.#environments.demo({ email, password });
    this.#demo = new Demo(programs.cli, this.#baseUrl, options.speed, (args) =>
      crew.launch("service", args, env),
    );
    if (this.#demo.pid !== undefined) this.#record.started("demo", this.#demo.pid);
    const code = await this.#demo.ended;
    this.#demo = undefined;
    if (this.#abort.signal.aborted) return;
    this.#record.ended("demo");
    if (code !== 0) this.#screen.warn(`the demo ended with exit code ${code}`);
    this.#screen.line("The service keeps running. Ctrl-C stops it.");
  }

  #watchSources(): void {
    const { programs, project, screen } = this.#settings;
    this.#watch = new SourceWatch(project, programs.sources, (files) => {
      this.#reloading = this.#reloading.then(() => this.#reload(files));
    });
    screen.line("Watching the sources: what changes is running a moment later.");
  }

  /** The new program in the old place: ports and addresses stay. Never rejects. */
  async #reload(files: readonly string[]): Promise<void> {
    const { screen } = this.#settings;
    const isWorkersOnly = files.every((file) => file.startsWith("workers/"));
    const restarted = this.#layout.services
      .filter(({ roles }) => roles === "worker" || !isWorkersOnly)
      .flatMap(({ name }) => this.#parts.get(name) ?? []);
    const [first] = files;
    const what = files.length === 1 ? first : `${first} and ${files.length - 1} more`;
    try {
      await runStep(screen, `restarting: ${what} changed`, async () => {
        if (files.some((file) => file.startsWith("proto/")) && !wireIsCurrent()) {
          await generateWire();
        }
        if (files.some((file) => file.startsWith("src/web/"))) await buildPage();
        this.#crew?.refresh();
        await Promise.all(restarted.map((part) => part.restart()));
      });
      this.#writeReadyFile();
    } catch (error) {
      if (this.#abort.signal.aborted) return;
      screen.fail(error instanceof Error ? error.message : String(error));
      screen.line("It is started again when the next file changes.");
    }
  }

  /** Ends everything within 10 s, in reverse order; SIGKILL for what does not obey. */
  async stop(): Promise<void> {
    this.#abort.abort();
    this.#watch?.close();
    this.#endTls();
    const timer = setTimeout(() => this.killNow(), STOP_WITHIN_MS);
    this.#readyFile.remove();
    await this.#demo?.stop();
    for (const group of [
      this.#layout.services.map(({ name }) => name),
      [...this.#layout.nats, "postgres"],
    ]) {
      const parts = group.flatMap((name) => this.#parts.get(name) ?? []);
      await Promise.all(parts.map((part) => part.stop()));
    }
    clearTimeout(timer);
    this.#crew?.close();
    for (const part of this.#parts.values()) part.close();
    this.#record.remove();
    this.#data.release();
  }

  killNow(): void {
    for (const part of this.#parts.values()) part.killNow();
  }

  async #startDatabase(port: number, secrets: ReturnType<typeof loadSecrets>) {
    const { env, project, screen } = this.#settings;
    if (env.DATABASE_URL) {
      const databaseUrl = env.DATABASE_URL;
      const databaseOwnerUrl = env.DATABASE_OWNER_URL || databaseUrl;
      await runStep(screen, "your PostgreSQL (DATABASE_URL)", async () => {
        await checkDatabase("DATABASE_URL", databaseUrl);
        await checkDatabase("DATABASE_OWNER_URL", databaseOwnerUrl);
      });
      return { databaseUrl, databaseOwnerUrl };
    }
    const sentences: string[] = [];
    const database = await runStep(screen, "PostgreSQL", async (step) => {
      const prepared = await EmbeddedDatabase.prepare({
        project,
        data: this.#data,
        port,
        secrets,
        env: this.#environments.server(),
        signal: this.#abort.signal,
        step,
        tell: (sentence) => sentences.push(sentence),
      });
      await this.#startPart(prepared.part);
      await prepared.ensureDatabase();
      return prepared;
    });
    for (const sentence of sentences) screen.line(`  ${sentence}`);
    return { databaseUrl: database.url, databaseOwnerUrl: database.ownerUrl };
  }

  async #prepareTls(crew: Crew): Promise<Pick<Addresses, "rpcTls"> & { tlsOf: TlsOf }> {
    const { options, env } = this.#settings;
    const files = { env, folder: this.#data.file("tls"), users: crew.users };
    const { tlsOf, end } = await prepareTls({
      ...files,
      // A nats-server of other people knows nothing of our authority.
      ownAuthority: options.cluster && !env.NATS_URL,
      layout: this.#layout,
      // The others look at their files by themselves.
      onRenewed: () => {
        for (const name of this.#layout.nats) this.#parts.get(name)?.signal("SIGHUP");
      },
    });
    const rpc = prepareRpcTls(files);
    this.#endTls = () => {
      end();
      rpc.end();
    };
    return { tlsOf, rpcTls: rpc.settings };
  }

  async #startNats(ports: PortBook, token: string, crew: Crew, tlsOf: TlsOf) {
    const { env, screen } = this.#settings;
    if (env.NATS_URL) {
      return this.#existingNats(env.NATS_URL, tlsOf("supervisor"));
    }
    const names = this.#layout.nats;
    const users = natsUsers(this.#layout.services, token);
    const servers = await NatsServers.prepare({
      names,
      ports,
      data: this.#data,
      program: crew.natsServer(env.VOICE_NATS_SERVER ?? "nats-server"),
      user: crew.users?.nats,
      token,
      users,
      tlsOf,
      env: this.#environments.server(),
    });
    const title = names.length > 1 ? `${names.length} NATS servers` : "NATS";
    await runStep(screen, title, async () => {
      await Promise.all(servers.parts.map((part) => this.#startPart(part)));
      await servers.ready(this.#abort.signal);
    });
    const natsLogins = new Map(
      users.map(({ name, password }) => [name, { user: name, password }] as const),
    );
    return { natsUrl: servers.url, natsToken: undefined, natsLogins };
  }

  /** The server of NATS_URL, with one token for all or with users, of which the worker has its own. */
  async #existingNats(natsUrl: string, tls: TlsFiles | undefined) {
    const { env, screen } = this.#settings;
    const { NATS_USER: user = "sessions", NATS_PASSWORD: password } = env;
    const natsToken = env.NATS_TOKEN || undefined;
    await runStep(screen, "your NATS (NATS_URL)", () =>
      checkNats(natsUrl, { user, password: password || undefined, token: natsToken, tls }),
    );
    const own = env.NATS_WORKER_PASSWORD;
    const workers = this.#layout.services.filter(({ roles }) => roles === "worker");
    const natsLogins = new Map(
      own ? workers.map(({ name }) => [name, { user: "worker", password: own }] as const) : [],
    );
    return { natsUrl, natsToken, natsLogins };
  }

  async #setUp(at: Addresses, admin: FirstLogin, crew: Crew): Promise<ToldLogin> {
    const log = new LogFile(this.#data.file("logs", "setup.log"), () => undefined);
    try {
      const output = await runOnce({
        title: "the set-up of the database",
        launch: crew.launch(
          "service",
          [...NODE_ARGUMENTS, this.#settings.programs.setup],
          this.#environments.setup(at, admin),
        ),
        log,
        signal: this.#abort.signal,
      });
      return toldLogin(admin, output);
    } finally {
      log.close();
    }
  }

  async #startServices(at: Addresses, ports: PortBook, crew: Crew): Promise<void> {
    const { options, programs } = this.#settings;
    const parts = await planServices(this.#layout.services, {
      at,
      wantedPort: options.port,
      chosen: options.ports,
      ports,
      programs,
      environments: this.#environments,
      data: this.#data,
      crew,
    });
    await Promise.all(parts.map((part) => this.#startPart(part)));
  }

  async #startPart(part: Part): Promise<void> {
    this.#abort.signal.throwIfAborted();
    const supervised = new SupervisedPart(part, {
      spawned: (name, pid) => this.#record.started(name, pid),
      ended: (name) => this.#record.ended(name),
      died: (died, how, delayMs) => this.#reporter.died(died, how, delayMs),
      recovered: (back, _facts, tookMs) => {
        this.#reporter.recovered(back, tookMs);
        if (this.#ready) this.#writeReadyFile();
      },
      logged: (from, line) => this.#reporter.logged(from, line),
    });
    this.#parts.set(part.name, supervised);
    await supervised.start();
    this.#abort.signal.throwIfAborted();
  }

  #writeReadyFile(): void {
    const admin = this.#admin;
    if (!admin || this.#abort.signal.aborted) return;
    this.#readyFile.write(readyState(this.#layout, this.#parts, admin.login));
  }

  /** Of the first front. */
  get #baseUrl(): string {
    return this.#toldByFront("base_url");
  }

  /** Of the first front, when there are several. */
  #toldByFront(name: "base_url" | "grpc_sessions"): string {
    const front = this.#layout.services.find(servesRest);
    return String(this.#parts.get(front?.name ?? "")?.facts[name] ?? "");
  }
}

/** The record of a supervisor on another folder, and the lock of the PostgreSQL that ran there. */
function wasCopiedInUse(data: DataFolder): boolean {
  const record = readRunRecord(data.file("run.json"));
  const isOfAnother = record?.folder !== undefined && record.folder !== data.place.folder;
  return isOfAnother && existsSync(data.file("postgres/postmaster.pid"));
}

function outlived(pids: number[]): StepError {
  return new StepError(
    `processes ${pids.join(", ")} of an earlier run do not end`,
    `end them as their owner (kill -9 ${pids.join(" ")}), then start again`,
  );
}
