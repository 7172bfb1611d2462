import type { DatabasePool } from "slonik";
import { systemRuntime } from "../../../src/base/runtime.ts";
import { createPool } from "../../../src/postgres/pool.ts";
import { createTestDatabase, type TestDatabase } from "../postgres.ts";
import { until } from "../until.ts";
import type { LockMode } from "./row-lock.ts";
import type { Cast, HostRecord, RowOf, TableName } from "./sim-record.ts";
import { sqlPorts } from "./sql-ports.ts";
import { insertCast, openClient, readRows, readTables } from "./sql-rows.ts";
import { TwinRecord } from "./twin-record.ts";

/** A record with two processes on it, and a third that may hold a session's row. */
export interface Stand {
  readonly a: Omit<HostRecord, "kill" | "leases" | "owners">;
  readonly b: Omit<HostRecord, "kill" | "leases" | "owners">;
  add(cast: Cast): Promise<void>;
  rows<K extends TableName>(table: K, group?: string): Promise<RowOf<K>[]>;
  /** The same of many tables, in their order. */
  tables(tables: readonly TableName[], group?: string): Promise<RowOf<TableName>[][]>;
  /** Holds a session's row until what is given back is called. */
  hold(sessionId: string, mode: LockMode): Promise<() => Promise<void>>;
  /** Returns once so many statements wait for a lock. */
  waiting(count: number): Promise<void>;
  close(): Promise<void>;
}

/** What stands in the logs of streams. */
export const LOGS = new Map<string, Buffer>();
const hooks = {
  readBytes: async () => Buffer.alloc(0),
  readLog: async (_id: string, log: string) => LOGS.get(log) ?? Buffer.alloc(0),
};

export function openTwin(): Stand {
  const record = new TwinRecord(systemRuntime, 1);
  const { server } = record;
  return {
    a: record.host("a", systemRuntime, hooks),
    b: record.host("b", systemRuntime, hooks),
    add: (cast) => record.add(cast),
    rows: (table, group) => record.rows(table, group),
    tables: (tables, group) => Promise.all(tables.map((table) => record.rows(table, group))),
    async hold(sessionId, mode) {
      const transaction = server.begin();
      await server.execute(transaction, (s) => s.lock(server.tables.sessions, sessionId, mode));
      return async () => server.commit(transaction);
    },
    waiting: (count) => until(() => server.waiting === count, `${count} waiting`),
    close: () => record.close(),
  };
}

/** The service's stores, over a database of their own. */
export async function openSql(): Promise<Stand> {
  const database: TestDatabase = await createTestDatabase();
  const pools = await Promise.all([1, 2].map(() => openPool(database)));
  const [a, b] = pools.map((pool) => sqlPorts(pool, systemRuntime, hooks));
  if (a === undefined || b === undefined) throw new Error("There are two pools.");
  const client = await openClient(database.serviceUrl);
  const holder = await openClient(database.serviceUrl);
  return {
    a,
    b,
    add: (cast) => insertCast(client, cast),
    rows: (table, group) => readRows(client, table, group),
    tables: (tables, group) => readTables(client, tables, group),
    async hold(sessionId, mode) {
      await holder.query("begin");
      await holder.query(`select id from sessions where id = $1 for ${mode}`, [sessionId]);
      return async () => {
        await holder.query("commit");
      };
    },
    waiting: (count) =>
      until(async () => {
        const { rows } = await client.query<{ count: number }>(
          `select count(*) as count from pg_stat_activity
           where datname = current_database() and wait_event_type = 'Lock'`,
        );
        return rows[0]?.count === count;
      }, `${count} waiting`),
    async close() {
      await Promise.all([...pools.map((pool) => pool.end()), client.end(), holder.end()]);
      await database.drop();
    },
  };
}

function openPool(database: TestDatabase): Promise<DatabasePool> {
  return createPool(database.serviceUrl, { maximumPoolSize: 4 });
}
