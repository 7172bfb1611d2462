import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { copyFile, mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Client } from "pg";
import { from } from "pg-copy-streams";
import { StepError } from "../setup/step-error.mjs";
import { surroundings } from "../supervisor/environment.ts";
import { SERVICE_ROLE } from "../supervisor/postgres/roles.ts";
import type { RecordFacts, StoredTable } from "./manifest.ts";
import type { ObjectFolder } from "./objects.ts";
import type { PrivateDatabase } from "./private-database.ts";
import { rowsOf, tablesOf, withRecord } from "./record-dump.ts";
import { readStream } from "./streams.ts";

const MIGRATE_MS = 10 * 60_000;

interface Load {
  readonly project: string;
  readonly record: RecordFacts;
  readonly objects: ObjectFolder;
  /** With an empty database of the service. */
  readonly database: PrivateDatabase;
  readonly signal: AbortSignal;
  readonly note: (text: string) => void;
}

/** Throws a StepError when the backup is of a newer release than this project. */
export async function checkMigrations(project: string, record: RecordFacts): Promise<void> {
  for (const { name, checksum } of record.migrations) {
    const sql = await readFile(migrationFile(project, name)).catch(() => undefined);
    if (sql !== undefined && createHash("sha256").update(sql).digest("hex") === checksum) continue;
    throw new StepError(
      `this backup was made by a newer release, or by another one: it has the migration ${name}, which this release does not have`,
      "restore it with the release that made it, or a newer one",
    );
  }
}

/** Makes the tables of the release that made the backup, and fills them with its rows. */
export async function loadRecord(load: Load): Promise<void> {
  const { record, database, objects, signal, note } = load;
  note("tables");
  await makeTables(load);
  await withRecord(database.adminUrl, async (client) => {
    await checkTables(client, record);
    // No trigger writes what the backup has already, and no order of tables matters.
    await client.query("set session_replication_role = replica");
    await client.query("begin");
    const all = record.tables.map(({ name }) => client.escapeIdentifier(name)).join(", ");
    await client.query(`truncate ${all}`);
    for (const table of record.tables) {
      signal.throwIfAborted();
      note(table.name);
      await fill(client, objects, table);
    }
    for (const { name, last } of record.sequences) {
      if (last === null) continue;
      await client.query("select setval(format('public.%I', $1::text)::regclass, $2)", [
        name,
        last,
      ]);
    }
    await client.query("commit");
    note("statistics");
    await client.query("analyze");
  });
}

/** Throws when a table holds other rows than the backup; returns how many rows there are. */
export async function compareRecord(load: Load): Promise<number> {
  const { record, database, signal, note } = load;
  return withRecord(database.adminUrl, async (client) => {
    let all = 0;
    for (const table of record.tables) {
      signal.throwIfAborted();
      note(table.name);
      const told = { rows: 0 };
      const hash = createHash("sha256");
      for await (const piece of rowsOf(client, table, told)) hash.update(piece);
      if (told.rows !== table.rows || hash.digest("hex") !== table.sha256) {
        throw new StepError(
          `the table ${table.name} was not restored as it was: ${told.rows} rows, and ${table.rows} in the backup`,
          "verify the backup (voice admin backup verify), and restore it again",
        );
      }
      all += told.rows;
    }
    return all;
  });
}

async function fill(client: Client, objects: ObjectFolder, table: StoredTable): Promise<void> {
  const columns = table.columns.map((each) => client.escapeIdentifier(each)).join(", ");
  const name = `public.${client.escapeIdentifier(table.name)}`;
  const target = client.query(from(`copy ${name} (${columns}) from stdin`));
  await pipeline(Readable.from(readStream(objects, table)), target);
}

/** Migrations that fill tables do so before; those of the backup are to be the same. */
async function checkTables(client: Client, { tables }: RecordFacts): Promise<void> {
  const shape = (all: readonly { name: string; columns: readonly string[] }[]) =>
    all.map(({ name, columns }) => `${name}(${columns.join()})`).sort();
  const found = shape(await tablesOf(client));
  const wanted = shape(tables);
  const other = wanted.find((each) => !found.includes(each));
  if (other === undefined && found.length === wanted.length) return;
  throw new StepError(
    `the migrations of this release make other tables than the backup has (${other ?? "more"})`,
    "restore it with the release that made it",
  );
}

/** With exactly the migrations of the backup; the next start applies those that came since. */
async function makeTables({ project, record, database, signal }: Load): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "voice-migrations-"));
  try {
    await mkdir(folder, { recursive: true });
    for (const { name } of record.migrations) {
      await copyFile(migrationFile(project, name), join(folder, name));
    }
    await runMigrations(project, folder, database.ownerUrl, signal);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function migrationFile(project: string, name: string): string {
  const folder = join(project, "src/postgres/migrations");
  const former = join(folder, "before-2.0", name);
  return existsSync(former) ? former : join(folder, name);
}

function runMigrations(
  project: string,
  folder: string,
  ownerUrl: string,
  signal: AbortSignal,
): Promise<void> {
  const script = join(project, "src/roles/migrate-by-folder.ts");
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", script, folder], {
    env: {
      ...surroundings(process.env),
      ...{ DATABASE_OWNER_URL: ownerUrl, SERVICE_ROLE },
    },
    stdio: ["ignore", "ignore", "pipe"],
    timeout: MIGRATE_MS,
    signal,
  });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said = (said + text).slice(-2_000);
  });
  return new Promise((settle, refuse) => {
    child.once("error", refuse);
    child.once("close", (code) => {
      if (code === 0) return settle();
      refuse(
        new StepError(
          `the tables of the backup could not be made: ${said.trim()}`,
          "restore it with the release that made it",
        ),
      );
    });
  });
}
