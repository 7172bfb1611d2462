import type pg from "pg";
import type { DatabasePool } from "slonik";
import type { Runtime } from "../../../src/base/runtime.ts";
import { createPool } from "../../../src/store/pool.ts";
import type { TestDatabase } from "../postgres.ts";
import { SeededRandom } from "../seeded-random.ts";
import { type GatedHost, gatedDriver } from "./gated-driver.ts";
import { Moods } from "./moods.ts";
import type { Cast, HostHooks, HostRecord, RowOf, SimRecord, TableName } from "./sim-record.ts";
import { SqlGate } from "./sql-gate.ts";
import { sqlPorts } from "./sql-ports.ts";
import { insertCast, openClient, readRows } from "./sql-rows.ts";

const CONNECTIONS = 4;

/** The service's own stores over a real database, one statement at a time by a seed. */
export class SqlRecord implements SimRecord {
  readonly moods: Moods;
  readonly #runtime: Runtime;
  readonly #database: TestDatabase;
  readonly #client: pg.Client;
  readonly #control: pg.Client;
  readonly #gate: SqlGate;
  readonly #pools: Promise<DatabasePool>[] = [];

  private constructor(
    runtime: Runtime,
    seed: number,
    database: TestDatabase,
    clients: readonly [pg.Client, pg.Client],
  ) {
    const random = new SeededRandom(seed);
    this.#runtime = runtime;
    this.#database = database;
    [this.#client, this.#control] = clients;
    this.moods = new Moods(random);
    this.#gate = new SqlGate(this.#control, runtime, random);
  }

  /**
   * @param runtime of the database's machine: its time is what `now()` gives
   * @param database one that takes its time from outside: see `takeTime`
   */
  static async open(runtime: Runtime, seed: number, database: TestDatabase): Promise<SqlRecord> {
    const url = database.serviceUrl;
    const clients = [await openClient(url), await openClient(url)] as const;
    const record = new SqlRecord(runtime, seed, database, clients);
    await record.#client.query("select setval('sim.clock', $1)", [record.#gate.time]);
    return record;
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
      pids: new Set(),
    };
    const pool = this.#gate.open(
      createPool(this.#database.serviceUrl, {
        maximumPoolSize: CONNECTIONS,
        wrapDriver: gatedDriver(host),
      }),
    );
    this.#pools.push(pool);
    return {
      ...sqlPorts(whenOpen(pool), runtime, hooks),
      kill: () => {
        isDead = true;
        for (const pid of host.pids) void this.#gate.terminate(pid);
      },
    };
  }

  add(cast: Cast): Promise<void> {
    return insertCast(this.#client, cast);
  }

  rows<K extends TableName>(table: K, group?: string): Promise<RowOf<K>[]> {
    return readRows(this.#client, table, group);
  }

  step(): Promise<boolean> {
    return this.#gate.step();
  }

  async close(): Promise<void> {
    // Whoever still waits for an answer waits for ever.
    const pools = await Promise.all(this.#pools);
    for (const pool of pools) void pool.end().catch(() => undefined);
    await Promise.all([this.#client.end(), this.#control.end()]);
    await this.#database.drop();
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
