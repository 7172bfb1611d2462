import { copyFileSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Client } from "pg";
import { findFreePort } from "../../../deploy/supervisor/ports.ts";
import { locateBinaries } from "../../../deploy/supervisor/postgres/binaries.ts";
import { createCluster } from "../../../deploy/supervisor/postgres/cluster.ts";
import { postgresPart } from "../../../deploy/supervisor/postgres/postgres-part.ts";
import {
  createDatabase,
  DATABASE,
  ensureRoles,
  OWNER_ROLE,
  postgresUrl,
  prepareSchema,
  SERVICE_ROLE,
  withClient,
} from "../../../deploy/supervisor/postgres/roles.ts";
import { chooseUser } from "../../../deploy/supervisor/postgres/unprivileged-user.ts";
import type { Secrets } from "../../../deploy/supervisor/secrets.ts";
import { migrate } from "../../../src/postgres/migrate.ts";
import { makeScratchFolder } from "../scratch-folder.ts";
import { TestServer } from "../test-server.ts";
import type { OldRow } from "./old-installation.ts";

const PROJECT = resolve(import.meta.dirname, "../../..");
const MIGRATIONS = join(PROJECT, "src/postgres/migrations/before-2.0");
/** The newest migration of that release. */
const NEWEST = "0023";

/** Makes the cluster of a data folder with the tables of that release and these rows in them. */
export async function layDownDatabase(
  data: string,
  secrets: Secrets,
  rows: readonly OldRow[],
  capturedAt: string,
): Promise<void> {
  const folder = join(data, "postgres");
  const user = chooseUser(folder);
  const cluster = { folder, binaries: locateBinaries(PROJECT, user), user };
  await createCluster(cluster, secrets.postgresPassword);
  const port = await findFreePort();
  const urlOf = (database: string) =>
    postgresUrl("postgres", secrets.postgresPassword, port, database);
  const notes = makeScratchFolder("upgrade");
  const part = postgresPart({
    cluster,
    port,
    adminUrl: urlOf("postgres"),
    logFile: join(notes, "postgres.log"),
    env: process.env,
    durable: false,
  });
  const server = new TestServer(part, notes);
  await server.start();
  try {
    const { ownerPassword: owner, servicePassword: service } = secrets;
    await ensureRoles(urlOf("postgres"), { owner, service });
    await createDatabase(urlOf("postgres"), DATABASE);
    await prepareSchema(urlOf(DATABASE));
    await migrateToOld(postgresUrl(OWNER_ROLE, owner, port, DATABASE));
    await withClient(urlOf(DATABASE), (client) => load(client, rows, capturedAt));
  } finally {
    await server.stop();
    rmSync(notes, { recursive: true, force: true });
  }
}

async function migrateToOld(ownerUrl: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "old-migrations-"));
  try {
    for (const name of readdirSync(MIGRATIONS)) {
      if (name.slice(0, 4) <= NEWEST) copyFileSync(join(MIGRATIONS, name), join(folder, name));
    }
    await migrate(ownerUrl, { folder: pathToFileURL(`${folder}/`), serviceRole: SERVICE_ROLE });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** As a copy of the tables is restored: no trigger says anything about it. */
async function load(client: Client, rows: readonly OldRow[], capturedAt: string): Promise<void> {
  await client.query("set session_replication_role = replica");
  // Checksums and all, as that release noted them.
  await client.query("delete from schema_migrations");
  for (const table of new Set(rows.map(([name]) => name))) {
    const own = rows.filter(([name]) => name === table).map(([, row]) => row);
    await loadTable(client, table, own, capturedAt);
  }
}

async function loadTable(
  client: Client,
  table: string,
  rows: readonly Record<string, unknown>[],
  capturedAt: string,
): Promise<void> {
  const { rows: columns } = await client.query<{ name: string; type: string; counted: boolean }>(
    `select attname as name, format_type(atttypid, null) as type, attidentity <> '' as counted
     from pg_attribute
     where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = ''`,
    [table],
  );
  const present = columns.filter(({ name }) => rows.some((row) => name in row));
  const names = present.map(({ name }) => client.escapeIdentifier(name));
  // As if it had been killed just now: keys expire, and silence counts. Not the audit log, whose
  // times its chain of checksums holds.
  const values = present.map(({ type }, n) =>
    type === "timestamp with time zone" && table !== "audit_log"
      ? `r.${names[n]} + (now() - $2::timestamptz)`
      : `r.${names[n]}`,
  );
  await client.query(
    `with moment as (select $2::timestamptz)
     insert into ${table} (${names.join(", ")}) overriding system value
     select ${values.join(", ")} from json_populate_recordset(null::${table}, $1) as r`,
    [JSON.stringify(rows), capturedAt],
  );
  for (const { name } of present.filter(({ counted }) => counted)) {
    await client.query(
      `select setval(pg_get_serial_sequence('${table}', '${name}'), (select max(${name}) from ${table}))`,
    );
  }
}
