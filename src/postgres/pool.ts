import {
  createPool as createSlonikPool,
  createTypeParserPreset,
  type DatabasePool,
  type DriverTypeParser,
  type Interceptor,
  type QueryResultRow,
  SchemaValidationError,
  sql,
} from "slonik";
import { databaseHosts } from "../base/database-address.ts";
import type { DriverFactory } from "./driver-client.ts";
import { steadyDriver } from "./steady-driver.ts";
import { guarded } from "./store-error.ts";

export interface PoolOptions {
  maximumPoolSize: number;
  /** Milliseconds after which the server gives a statement up. */
  statementTimeout?: number;
  /** Milliseconds without an answer after which the connection counts as dead. */
  silenceTimeout?: number;
  /** Comes between the pool and its connections; for those who decide when what is asked. */
  wrapDriver?: (driver: DriverFactory) => DriverFactory;
}

/** Checks every row against the zod schema of its query, so that a drifted column is named at once. */
const rowParser: Interceptor = {
  name: "row-parser",
  transformRow: (context, query, row): QueryResultRow => {
    const parsed = context.resultParser?.safeParse(row);
    if (parsed === undefined) return row;
    if (!parsed.success) throw new SchemaValidationError(query, row, parsed.error.issues);
    return parsed.data as QueryResultRow;
  },
};

/** All counts here stay far below 2^53; slonik's own parser would give BigInt. */
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

/** Stores need not say it each: whatever is asked of the pool fails as `toStoreError` has it. */
function guardedPool(pool: DatabasePool): DatabasePool {
  const asking = ASKING.map((name) => {
    const ask = pool[name] as Ask;
    return [name, (...args: unknown[]) => guarded(() => ask(...args))];
  });
  return Object.assign(pool, Object.fromEntries(asking));
}

/**
 * A pool over `pg`. `timestamptz` comes as Unix milliseconds, `bigint` as
 * number, `bytea` as Buffer. Connections hold no session state, so nothing is
 * reset when one goes back. The address may name several hosts: see
 * `DatabaseServers`. What it rejects with went through `toStoreError`; inside
 * a transaction errors are the driver's own.
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
    // A process that stands still keeps its locks for so long: its sessions' next owner waits.
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
