import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { inject } from "vitest";
import { findFreePort } from "../../deploy/supervisor/ports.ts";
import { locateBinaries } from "../../deploy/supervisor/postgres/binaries.ts";
import { type Cluster, createCluster } from "../../deploy/supervisor/postgres/cluster.ts";
import { postgresPart } from "../../deploy/supervisor/postgres/postgres-part.ts";
import {
  createDatabase,
  ensureRoles,
  OWNER_ROLE,
  postgresUrl,
  prepareSchema,
  SERVICE_ROLE,
  withClient,
} from "../../deploy/supervisor/postgres/roles.ts";
import { chooseUser } from "../../deploy/supervisor/postgres/unprivileged-user.ts";
import { makeScratchFolder } from "./scratch-folder.ts";
import { TestServer } from "./test-server.ts";

const PROJECT = resolve(import.meta.dirname, "../..");
const TEMPLATE = "voice_template";

/** What a test needs to reach the server; plain data, so that vitest can hand it to its workers. */
export interface PostgresAccess {
  readonly port: number;
  readonly adminPassword: string;
  readonly ownerPassword: string;
  readonly servicePassword: string;
}

/** A real PostgreSQL of its own. */
export interface TestPostgres {
  readonly access: PostgresAccess;
  readonly adminUrl: string;
  readonly cluster: Cluster;
  /** Ends it in order; its data stays, and `resume` brings it back on the same port. */
  halt(): Promise<void>;
  resume(): Promise<void>;
  /** An empty database with the two roles, not migrated. */
  createEmptyDatabase(): Promise<TestDatabase>;
  stop(): Promise<void>;
  /** SIGKILL to the postmaster; `restart` brings it back on the same port. */
  kill9(): Promise<void>;
  restart(): Promise<void>;
}

/** A database of one test file. */
export interface TestDatabase {
  /** As `voice_owner`, which owns everything in it. */
  readonly ownerUrl: string;
  /** As `voice_service`. */
  readonly serviceUrl: string;
  drop(): Promise<void>;
}

/** Starts a server on a free port with its data in a scratch folder, on a disk or in memory. */
export async function startPostgres(
  options: { durable?: boolean; inMemory?: boolean } = {},
): Promise<TestPostgres> {
  const folder = makeScratchFolder("postgres", options.inMemory);
  const access = await makeAccess();
  const user = chooseUser(folder);
  const binaries = locateBinaries(PROJECT, user);
  const cluster = { folder: join(folder, "data"), binaries, user };
  await createCluster(cluster, access.adminPassword);
  const adminUrl = adminUrlOf(access, "postgres");
  const part = postgresPart({
    cluster,
    port: access.port,
    adminUrl,
    logFile: join(folder, "postgres.log"),
    env: process.env,
    durable: options.durable ?? false,
  });
  const server = new TestServer(part, folder);
  await server.start();
  await ensureRoles(adminUrl, { owner: access.ownerPassword, service: access.servicePassword });
  return {
    access,
    adminUrl,
    cluster,
    halt: () => server.stop(),
    resume: () => server.start(),
    createEmptyDatabase: () => createFrom(access, "template0"),
    kill9: () => server.kill9(),
    restart: async () => {
      await server.stop();
      await server.start();
    },
    stop: async () => {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Makes the migrated database that `createTestDatabase` copies. */
export async function createTemplate(
  access: PostgresAccess,
  migrate: (ownerUrl: string) => Promise<unknown>,
): Promise<void> {
  await createDatabase(adminUrlOf(access, "postgres"), TEMPLATE);
  await prepareSchema(adminUrlOf(access, TEMPLATE));
  await migrate(postgresUrl(OWNER_ROLE, access.ownerPassword, access.port, TEMPLATE));
}

/** A copy of the template that `createTemplate` made on that server. */
export function cloneTemplate(access: PostgresAccess): Promise<TestDatabase> {
  return createFrom(access, TEMPLATE);
}

/** The template itself, for who has more to do to it; as the superuser. */
export function templateUrl(access: PostgresAccess): string {
  return adminUrlOf(access, TEMPLATE);
}

/** How often, and how far apart, it is seen whether a database's last connections have gone. */
const MOST_CLOSING = 40;
const CLOSING_MS = 25;

/**
 * A migrated database of its own, copied from the run's template (about 50 ms). Only in the
 * projects of vitest.config.ts that start the servers.
 */
export async function createTestDatabase(): Promise<TestDatabase> {
  const access = inject("postgres");
  if (!access) throw new Error("this vitest project starts no PostgreSQL: see vitest.config.ts");
  return createFrom(access, TEMPLATE);
}

/** Of a superuser, in a database of `createTestDatabase`. */
export function superuserUrl({ serviceUrl }: TestDatabase): string {
  return adminUrlOf(inject("postgres"), new URL(serviceUrl).pathname.slice(1));
}

async function createFrom(access: PostgresAccess, template: string): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString("hex")}`;
  const adminUrl = adminUrlOf(access, "postgres");
  // Copying files is the quicker way where the folder is in memory.
  await createDatabase(adminUrl, name, template, "file_copy");
  if (template !== TEMPLATE) await prepareSchema(adminUrlOf(access, name));
  return {
    ownerUrl: postgresUrl(OWNER_ROLE, access.ownerPassword, access.port, name),
    serviceUrl: postgresUrl(SERVICE_ROLE, access.servicePassword, access.port, name),
    drop: () => dropDatabase(adminUrl, name),
  };
}

/**
 * A pool's end does not wait for its connections: one that the drop breaks meanwhile would fail the run
 * with an error that nobody listens for. So they get a moment to go by themselves.
 */
async function dropDatabase(adminUrl: string, name: string): Promise<void> {
  await withClient(adminUrl, async (client) => {
    for (let tries = 0; tries < MOST_CLOSING; tries += 1) {
      const open = await client.query("select from pg_stat_activity where datname = $1", [name]);
      if (open.rowCount === 0) break;
      await delay(CLOSING_MS);
    }
    await client.query(`drop database if exists ${client.escapeIdentifier(name)} with (force)`);
  });
}

async function makeAccess(): Promise<PostgresAccess> {
  const password = () => randomBytes(12).toString("hex");
  return {
    port: await findFreePort(),
    adminPassword: password(),
    ownerPassword: password(),
    servicePassword: password(),
  };
}

function adminUrlOf(access: PostgresAccess, database: string): string {
  return postgresUrl("postgres", access.adminPassword, access.port, database);
}
