import type pg from "pg";
import type { DatabasePool } from "slonik";
import { partitionOf } from "../../../src/base/partition.ts";
import type { Runtime } from "../../../src/base/runtime.ts";
import type { OutboxRow } from "../../../src/postgres/outbox.ts";
import { createPool } from "../../../src/postgres/pool.ts";
import { SeededRandom } from "../seeded-random.ts";
import { type GatedHost, gatedDriver } from "./gated-driver.ts";
import { Moods } from "./moods.ts";
import { SimLeases } from "./sim-leases.ts";
import type { TimedDatabase } from "./sim-postgres.ts";
import type { Cast, HostHooks, HostRecord, RowOf, SimRecord, TableName } from "./sim-record.ts";
import { SqlClock } from "./sql-clock.ts";
import { SqlGate } from "./sql-gate.ts";
import { sqlPorts } from "./sql-ports.ts";
import { insertCast, insertCommand, openClient, readRows } from "./sql-rows.ts";

/** As the service's pool has them. */
const CONNECTIONS = 16;

/** Connections beside the service's own: to look, to decide what comes when, to write commands. */
interface Clients {
  eyes: pg.Client;
  control: pg.Client;
  desk: pg.Client;
}

/** The service's own stores over a real database, one statement at a time by a seed. */
export class SqlRecord implements SimRecord {
  readonly moods: Moods;
  readonly #runtime: Runtime;
  readonly #database: TimedDatabase;
  readonly #clients: Clients;
  readonly #clock: SqlClock;
  readonly #gate: SqlGate;
  readonly #leases: SimLeases;
  /** The desk's process at the server. */
  readonly #deskPid: number;
  readonly #pools: Promise<DatabasePool>[] = [];

  private constructor(
    runtime: Runtime,
    seed: number,
    database: TimedDatabase,
    clients: Clients,
    deskPid: number,
  ) {
    this.#runtime = runtime;
    this.#database = database;
    this.#clients = clients;
    this.#deskPid = deskPid;
    // As the twin has it: whose statement comes first does not change what goes wrong.
    this.moods = new Moods(new SeededRandom(seed));
    this.#clock = new SqlClock(database.timeFolder, clients.eyes.database ?? "");
    this.#gate = new SqlGate(clients.control, this.#clock, runtime, new SeededRandom(seed + 1));
    this.#clock.tell(this.#gate.time);
    this.#leases = new SimLeases(this.moods, runtime);
  }

  /**
   * @param runtime of the database's machine: its time is what `now()` gives
   * @param database one that takes its time from outside: see `takeTime`
   */
  static async open(runtime: Runtime, seed: number, database: TimedDatabase): Promise<SqlRecord> {
    const open = () => openClient(database.serviceUrl);
    const clients = { eyes: await open(), control: await open(), desk: await open() };
    const { rows } = await clients.desk.query<{ pid: number }>("select pg_backend_pid() as pid");
    return new SqlRecord(runtime, seed, database, clients, rows[0]?.pid ?? 0);
  }

  host(name: string, runtime: Runtime, hooks: HostHooks): HostRecord {
    let isDead = false;
    const host: GatedHost = {
      name,
      gate: this.#gate,
      moods: this.moods,
      database: this.#runtime,
      runtime,
      isDead: () => isDead,
      pids: new Map(),
    };
    const pool = this.#gate.open(() =>
      createPool(this.#database.serviceUrl, {
        maximumPoolSize: CONNECTIONS,
        wrapDriver: gatedDriver(host),
      }),
    );
    this.#pools.push(pool);
    return {
      leases: this.#leases.of(host),
      owners: this.#leases.owners(host),
      ...sqlPorts(whenOpen(pool), runtime, hooks),
      kill: () => {
        isDead = true;
        this.#leases.kill(name);
        for (const [pid, gone] of host.pids) void this.#gate.terminate(pid, gone);
      },
    };
  }

  add(cast: Cast): Promise<void> {
    return this.#gate.open(() => insertCast(this.#clients.eyes, cast));
  }

  tell(row: OutboxRow): Promise<boolean> {
    return this.#gate.run(this.#deskPid, () => insertCommand(this.#clients.desk, row));
  }

  cutLeases(host: string, isCut: boolean): void {
    this.#leases.cut(host, isCut);
  }

  holder(sessionId: string): string | undefined {
    return this.#leases.holder(partitionOf(sessionId));
  }

  rows<K extends TableName>(table: K, group?: string): Promise<RowOf<K>[]> {
    return this.#gate.open(() => readRows(this.#clients.eyes, table, group));
  }

  step(): Promise<boolean> {
    return this.#gate.step();
  }

  async close(): Promise<void> {
    // Whoever still waits for an answer waits for ever.
    const pools = await Promise.all(this.#pools);
    for (const pool of pools) void pool.end().catch(() => undefined);
    await Promise.all(Object.values(this.#clients).map((client) => client.end()));
    await this.#database.drop();
    this.#clock.close();
  }
}

/** A pool that is not there yet: what is asked of it waits. */
function whenOpen(pool: Promise<DatabasePool>): DatabasePool {
  const facade = new Proxy(
    {},
    {
      get:
        (_target, name) =>
        async (...given: unknown[]) => {
          const open = (await pool) as unknown as Record<string | symbol, unknown>;
          const method = open[name];
          if (typeof method !== "function") throw new Error(`A pool has no ${String(name)}.`);
          return method.apply(open, given);
        },
    },
  );
  return facade as DatabasePool;
}
