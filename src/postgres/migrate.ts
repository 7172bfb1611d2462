import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import pg from "pg";
import { errorMessage } from "../base/errors.ts";
import { type Log, silentLog } from "../base/log.ts";

const FOLDER = new URL("./migrations/", import.meta.url);
const FILE_NAME = /^\d{4}_[a-z0-9_]+\.sql$/;
/** The tables of a new installation in one file: what the migrations of `CONTAINED` come to. */
const BASE = "base.sql";
const CONTAINED = "before-2.0/";
/** An arbitrary constant: the key of the advisory lock of migrations. */
const LOCK = 7_203_114_955;
/**
 * Lock timeout of statements that change tables, milliseconds, so that other users of the tables
 * are not delayed for long.
 */
const LOCK_TIMEOUT = 60_000;
/**
 * Longest wait for another migration, and the time between two log lines about it, milliseconds.
 */
const WAIT = { longest: 30 * 60_000, told: 10_000 };
const NOT_AVAILABLE = "55P03";

interface MigrateOptions {
  /**
   * The role of the serving processes: it gets the right to read and write rows, not to change
   * tables.
   */
  serviceRole?: string;
  log?: Log;
  /** Runs after the migrations, still under their lock, to insert first rows exactly once. */
  seed?: () => Promise<void>;
  /** Another folder of SQL files, of a backup or for tests. */
  folder?: URL;
  /** Other waiting times, for tests; milliseconds. */
  wait?: { longest: number; told: number };
}

interface Migration {
  name: string;
  sql: string;
  checksum: string;
}

interface Migrations {
  /** Its `sql` stands for all of `contained`. Undefined in a folder without it. */
  base: string | undefined;
  contained: readonly Migration[];
  /** Those that databases get however they began. */
  since: readonly Migration[];
}

/**
 * Applies the numbered SQL files that the database does not have yet, each in a separate
 * transaction, and grants the service role its rights. A database without any gets the base file
 * instead of those that it contains, and notes them as applied. When two processes start at once, one
 * waits for the other. Throws when an applied file was changed since.
 *
 * @returns names of the files applied now
 */
export async function migrate(
  ownerUrl: string,
  options: MigrateOptions = {},
): Promise<{ applied: string[] }> {
  const log = options.log ?? silentLog;
  const migrations = await readMigrations(options.folder ?? FOLDER);
  const client = new pg.Client({
    connectionString: ownerUrl,
    connectionTimeoutMillis: 10_000,
    application_name: "voice-migrate",
  });
  client.on("error", (error) => log.warn({ error: error.message }, "migration connection lost"));
  try {
    await client.connect();
    await takeLock(client, log, options.wait ?? WAIT);
    await client.query(`set lock_timeout = ${LOCK_TIMEOUT}`);
    const applied = await applyPending(client, migrations, log);
    if (options.serviceRole !== undefined) await grant(client, options.serviceRole);
    await options.seed?.();
    return { applied };
  } finally {
    // Closing the connection releases the lock too.
    await client.end().catch(() => {});
  }
}

async function readMigrations(folder: URL): Promise<Migrations> {
  const names = await readdir(folder);
  const hasBase = names.includes(BASE);
  return {
    base: hasBase ? await readFile(new URL(BASE, folder), "utf8") : undefined,
    contained: hasBase ? await readNumbered(new URL(CONTAINED, folder)) : [],
    since: await readNumbered(folder),
  };
}

async function readNumbered(folder: URL): Promise<Migration[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".sql") && name !== BASE);
  const migrations: Migration[] = [];
  for (const name of names.sort()) {
    if (!FILE_NAME.test(name)) throw new Error(`Migration ${name} is not named NNNN_name.sql.`);
    const sql = await readFile(new URL(name, folder), "utf8");
    migrations.push({ name, sql, checksum: createHash("sha256").update(sql).digest("hex") });
  }
  return migrations;
}

/**
 * Waits for the lock. Migrations of tables with millions of rows take minutes, so the wait is long.
 */
async function takeLock(
  client: pg.Client,
  log: Log,
  { longest, told }: typeof WAIT,
): Promise<void> {
  await client.query(`set lock_timeout = ${told}`);
  for (let waited = 0; waited < longest; waited += told) {
    try {
      await client.query("select pg_advisory_lock($1)", [LOCK]);
      return;
    } catch (error) {
      if (!(error instanceof pg.DatabaseError) || error.code !== NOT_AVAILABLE) throw error;
      log.info({ waited_ms: waited + told }, "another process migrates; waiting for it");
    }
  }
  throw new Error(`Another process has been migrating for over ${longest / 60_000} minutes.`);
}

async function applyPending(
  client: pg.Client,
  { base, contained, since }: Migrations,
  log: Log,
): Promise<string[]> {
  await client.query(`create table if not exists schema_migrations (
    name text primary key,
    checksum text not null,
    applied_at timestamptz not null default now()
  )`);
  const known = await client.query<{ name: string; checksum: string }>(
    "select name, checksum from schema_migrations",
  );
  const checksums = new Map(known.rows.map((row) => [row.name, row.checksum]));
  refuseUnknown([...contained, ...since], [...checksums.keys()]);
  const applied: string[] = [];
  const apply = async (name: string, sql: string, noted: readonly Migration[]) => {
    await applyOne(client, name, sql, noted);
    for (const each of noted) checksums.set(each.name, each.checksum);
    log.info({ migration: name }, "migration applied");
    applied.push(name);
  };
  if (base !== undefined && checksums.size === 0) await apply(BASE, base, contained);
  for (const migration of [...contained, ...since]) {
    const before = checksums.get(migration.name);
    if (before === undefined) {
      await apply(migration.name, migration.sql, [migration]);
    } else if (before !== migration.checksum) {
      throw new Error(
        `Migration ${migration.name} was changed after it had been applied. Put the file back as it was and add a new one.`,
      );
    }
  }
  return applied;
}

/**
 * Throws when the database has migrations that this release does not know: a newer database must
 * not be served.
 */
function refuseUnknown(migrations: readonly Migration[], applied: readonly string[]): void {
  const own = new Set(migrations.map((migration) => migration.name));
  const foreign = applied.filter((name) => !own.has(name));
  if (foreign.length > 0) {
    throw new Error(
      `The database was migrated by a newer version of this service (${foreign.join(", ")}).`,
    );
  }
}

async function applyOne(
  client: pg.Client,
  name: string,
  sql: string,
  noted: readonly Migration[],
): Promise<void> {
  await client.query("begin");
  try {
    await client.query(sql);
    await client.query(
      "insert into schema_migrations (name, checksum) select * from unnest($1::text[], $2::text[])",
      [noted.map((each) => each.name), noted.map((each) => each.checksum)],
    );
    await client.query("commit");
  } catch (error) {
    await client.query("rollback").catch(() => {});
    throw new Error(`Migration ${name} failed: ${errorMessage(error)}`, { cause: error });
  }
}

async function grant(client: pg.Client, serviceRole: string): Promise<void> {
  const role = pg.escapeIdentifier(serviceRole);
  const known = await client.query("select 1 from pg_roles where rolname = $1", [serviceRole]);
  if (known.rowCount === 0) throw new Error(`The service role "${serviceRole}" does not exist.`);
  const rights = "select, insert, update, delete on";
  await client.query(`
    begin;
    grant usage on schema public to ${role};
    grant ${rights} all tables in schema public to ${role};
    grant usage, select on all sequences in schema public to ${role};
    alter default privileges in schema public grant ${rights} tables to ${role};
    alter default privileges in schema public grant usage, select on sequences to ${role};
    revoke insert, update, delete on schema_migrations from ${role};
    do $audit$ begin
      if to_regclass('public.audit_log') is not null then
        revoke update, delete, truncate on audit_log from ${role};
      end if;
    end $audit$;
    commit;
  `);
}
