import {
  createPool as createSlonikPool,
  createTypeParserPreset,
  type DatabasePool,
  type DatabaseTransactionConnection,
  type DriverTypeParser,
  type Interceptor,
  type QueryResultRow,
  SchemaValidationError,
  sql,
} from "slonik";
import { z } from "zod";
import { databaseHosts } from "../base/database-address.ts";
import type { DriverFactory } from "./driver-client.ts";
import { steadyDriver } from "./steady-driver.ts";
import { guarded } from "./store-error.ts";

const settingRow = z.object({ name: z.string(), setting: z.string(), source: z.string() });

/** Settings that acknowledged audio needs, and what may happen without them. */
const NEEDED: Readonly<Record<string, string>> = {
  fsync: "a power failure can take what was stored, or damage the whole database",
  full_page_writes: "a power failure can damage pages that were half written",
  synchronous_commit: "a crash takes the audio of the last moments that devices were told is safe",
};

/**
 * Checks whether the database keeps what it has acknowledged. Returns a sentence for each wrong
 * setting: its name, why it matters and how to set it. Empty when the database is durable.
 */
export async function durabilityFaults(pool: DatabasePool): Promise<string[]> {
  const rows = await pool.any(sql.type(settingRow)`
    select name, setting, source from pg_settings
    where name in ('fsync', 'full_page_writes', 'synchronous_commit') and setting = 'off'
    order by name`);
  return rows.map((row) => `${row.name} is off: ${NEEDED[row.name]}; ${remedyOf(row)}.`);
}

function remedyOf({ name, source }: z.output<typeof settingRow>): string {
  if (source === "user" || source === "database" || source === "database user") {
    return `it is set for this role or database: ALTER ROLE … RESET ${name}, or ALTER DATABASE … RESET ${name}`;
  }
  if (source === "command line") return `it is set where the server is started (-c ${name}=off)`;
  return `ALTER SYSTEM SET ${name} = on; SELECT pg_reload_conf()`;
}

/** For those who hand it on to a store. */
export type Pool = DatabasePool;
/** What holds together: all of it is done, or nothing. */
export type Transaction = DatabaseTransactionConnection;

export interface PoolOptions {
  maximumPoolSize: number;
  /** Time after which the server aborts a statement, milliseconds. */
  statementTimeout?: number;
  /** Time without an answer after which the connection counts as dead, milliseconds. */
  silenceTimeout?: number;
  /** Wraps the driver, so that tests can control when queries are sent. */
  wrapDriver?: (driver: DriverFactory) => DriverFactory;
}

/**
 * Checks every row against the zod schema of its query, so that an unexpected column is reported at
 * once.
 */
const rowParser: Interceptor = {
  name: "row-parser",
  transformRow: (context, query, row): QueryResultRow => {
    const parsed = context.resultParser?.safeParse(row);
    if (parsed === undefined) return row;
    if (!parsed.success) throw new SchemaValidationError(query, row, parsed.error.issues);
    return parsed.data as QueryResultRow;
  },
};

/**
 * Parses int8 as number, because all values here stay far below 2^53; slonik's parser returns
 * BigInt.
 */
const int8AsNumber: DriverTypeParser = { name: "int8", parse: (text) => Number(text) };

const typeParsers = [
  ...createTypeParserPreset().filter((parser) => parser.name !== "int8"),
  int8AsNumber,
];

type Ask = (...args: unknown[]) => Promise<unknown>;

const ASKING = [
  "any",
  "anyFirst",
  "connect",
  "exists",
  "many",
  "manyFirst",
  "maybeOne",
  "maybeOneFirst",
  "one",
  "oneFirst",
  "query",
  "stream",
  "transaction",
] as const;

/**
 * Wraps the pool so that all its failures pass through `toStoreError`; stores need not do it
 * themselves.
 */
function guardedPool(pool: DatabasePool): DatabasePool {
  const asking = ASKING.map((name) => {
    const ask = pool[name] as Ask;
    return [name, (...args: unknown[]) => guarded(() => ask(...args))];
  });
  return Object.assign(pool, Object.fromEntries(asking));
}

/**
 * Creates a pool over `pg`. It returns `timestamptz` as Unix milliseconds, `bigint` as number,
 * `bytea` as Buffer. Connections have no session state, so nothing is reset when one is released.
 * The address may name several hosts: see `DatabaseServers`. Rejections pass through
 * `toStoreError`; inside a transaction, errors are the driver's.
 */
export async function createPool(url: string, options: PoolOptions): Promise<DatabasePool> {
  const { maximumPoolSize, statementTimeout = 15_000 } = options;
  const { silenceTimeout = statementTimeout + 2_000, wrapDriver = (driver) => driver } = options;
  const addresses = databaseHosts(url);
  const pool = await createSlonikPool(addresses[0] ?? url, {
    captureStackTrace: false,
    connectionRetryLimit: 1,
    connectionTimeout: 5_000,
    driverFactory: wrapDriver(steadyDriver(addresses, silenceTimeout)),
    // A stalled process keeps its locks this long, while its sessions' next owner waits.
    idleInTransactionSessionTimeout: 5_000,
    idleTimeout: 60_000,
    interceptors: [rowParser],
    maximumPoolSize,
    queryRetryLimit: 2,
    resetConnection: async () => {},
    statementTimeout,
    transactionRetryLimit: 2,
    typeParsers,
  });
  return guardedPool(pool);
}

/** Resolves when the database answers, rejects when it does not. */
export async function pingDatabase(pool: DatabasePool): Promise<void> {
  await pool.query(sql.unsafe`select 1`);
}
