import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { withTimeout } from "../../src/base/deferred.ts";
import { until } from "../support/until.ts";
import { BenchFixture, type BenchUser, type MainProcess } from "./bench-fixture.ts";
import { ChildTask } from "./child-task.ts";
import { GrowthMeter } from "./growth-meter.ts";
import type { StateSize } from "./growth-script.ts";

/** For measuring: what each statement cost, and no checkpoint of the log in the middle of a round. */
const POSTGRES = {
  shared_preload_libraries: "pg_stat_statements",
  "pg_stat_statements.track_planning": "off",
  checkpoint_timeout: "1h",
  max_wal_size: "24GB",
  wal_keep_size: "2GB",
};
/** Nobody hears of the devices between rounds; a session is not to end for it. */
const MAIN = { AUTO_STOP_SILENCE: "86400", PASSIVATE_MS: "86400000", GRPC_SESSIONS_PORT: "0" };
const COMPLAINTS = 3;
const REQUEST_MS = 60_000;
const STOP_MS = 40_000;

const open = new Set<GrowthFixture>();

/** An answer that is none of 2xx. */
export class Refusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(`${status}: ${message}`);
    this.status = status;
  }
}

/** Ends whatever a bench that was interrupted has running. */
export async function closeFixtures(): Promise<void> {
  await Promise.allSettled([...open].map((fixture) => fixture.close()));
}

/** The real service over real servers, with scripted workers behind the real protocol. */
export class GrowthFixture {
  readonly fixture: BenchFixture;
  readonly worker: ChildTask;
  readonly #standby: MainProcess[] = [];
  #main: MainProcess | undefined;
  #meter: GrowthMeter | undefined;
  #user: BenchUser | undefined;
  #closing: Promise<void> | undefined;

  private constructor(fixture: BenchFixture) {
    this.fixture = fixture;
    this.worker = new ChildTask("growth-worker.ts");
  }

  /** `prepare` may fill the database before the service starts. */
  static async open(prepare: (fixture: GrowthFixture) => Promise<void> = async () => {}) {
    const fixture = new GrowthFixture(await BenchFixture.open(POSTGRES));
    open.add(fixture);
    try {
      await prepare(fixture);
      await fixture.#start();
      return fixture;
    } catch (error) {
      await fixture.close();
      throw error;
    }
  }

  async #start(): Promise<void> {
    const { nats, owner } = this.fixture;
    await this.worker.ask({ kind: "start", natsUrl: nats.url, natsToken: nats.token });
    const main = await this.startMain();
    this.#user = await this.fixture.addUser();
    const { rows } = await owner.query<{ pid: number }>("select pg_backend_pid() as pid");
    const pids = { postgres: await this.fixture.postgresPid(), main: main.pid };
    const others = rows.map(({ pid }) => pid);
    this.#meter = await GrowthMeter.open(this.fixture.adminUrl, pids, others);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    open.delete(this);
    await this.#meter?.close().catch(() => {});
    await Promise.allSettled([this.stopMain(), ...this.#standby.map((each) => each.kill9())]);
    await this.worker.stop().catch(() => {});
    await this.fixture.close();
  }

  get main(): MainProcess {
    if (this.#main === undefined) throw new Error("Our process does not run.");
    return this.#main;
  }

  get meter(): GrowthMeter {
    if (this.#meter === undefined) throw new Error("The house is not open.");
    return this.#meter;
  }

  get user(): BenchUser {
    if (this.#user === undefined) throw new Error("The house is not open.");
    return this.#user;
  }

  /** Front and sessions in one process, as `up` starts it. */
  async startMain(): Promise<MainProcess> {
    const main = await this.fixture.startMain("front,sessions", [], MAIN);
    this.#main = main;
    if (this.#meter !== undefined) this.#meter.main = main.pid;
    return main;
  }

  /** One more, which takes its share of the partitions. */
  async startStandby(): Promise<MainProcess> {
    const standby = await this.fixture.startMain("front,sessions", [], MAIN);
    this.#standby.push(standby);
    return standby;
  }

  /** In its place from now on; the one before has ended. */
  replaceMain(successor: MainProcess): void {
    this.#standby.splice(this.#standby.indexOf(successor), 1);
    this.#main = successor;
    this.meter.main = successor.pid;
  }

  /** In order: what it holds is put away, with snapshots. */
  async stopMain(): Promise<void> {
    const main = this.#main;
    if (main === undefined) return;
    this.#main = undefined;
    await withTimeout(main.stop(), STOP_MS, "Stopping our process").catch(() => main.kill9());
  }

  /** How much of the worker's state goes with each final from now on. */
  async setState(size: StateSize): Promise<void> {
    await this.worker.ask({ kind: "state", size });
  }

  /** The parsed answer; throws on any status but 2xx. */
  async call<T = Record<string, string>>(
    method: string,
    path: string,
    headers: Readonly<Record<string, string>>,
    body?: Record<string, unknown> | Uint8Array<ArrayBuffer>,
  ): Promise<T> {
    const isJson = body !== undefined && !(body instanceof Uint8Array);
    const response = await fetch(`http://127.0.0.1:${this.main.port}/api${path}`, {
      method,
      headers: isJson ? { "content-type": "application/json", ...headers } : headers,
      body: isJson ? JSON.stringify(body) : (body ?? null),
      signal: AbortSignal.timeout(REQUEST_MS),
    });
    const text = await response.text();
    if (!response.ok) throw new Refusal(response.status, `${method} ${path}: ${text}`);
    return JSON.parse(text) as T;
  }

  /** What our processes complained of last. */
  get complaints(): string {
    const { folder } = this.fixture;
    const lines = readdirSync(folder)
      .filter((name) => name.endsWith(".log"))
      .flatMap((name) => readFileSync(join(folder, name), "utf8").split("\n"))
      .filter((line) => /"level":"(warn|error|fatal)"/.test(line));
    return `${lines.length} complaints ${lines.slice(-COMPLAINTS).join(" ")}`;
  }

  get bearer(): { authorization: string } {
    return { authorization: `Bearer ${this.user.token}` };
  }

  /** Finals of these sessions that are on record. */
  async finals(sessionIds: readonly string[]): Promise<number> {
    const { rows } = await this.fixture.owner.query<{ finals: number }>(
      "select count(*)::int as finals from segments where session_id = any($1)",
      [sessionIds],
    );
    return rows[0]?.finals ?? 0;
  }

  async allFinal(sessionIds: readonly string[], finals: number, ms: number): Promise<void> {
    const every = 250;
    let next = 0;
    await until(
      async () => {
        if (performance.now() < next) return false;
        next = performance.now() + every;
        return (await this.finals(sessionIds)) >= finals;
      },
      `${finals} finals`,
      ms,
    );
  }
}
