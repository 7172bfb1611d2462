import { Client } from "pg";

/** The service's database and its two roles. */
export const DATABASE = "voice";
export const OWNER_ROLE = "voice_owner";
export const SERVICE_ROLE = "voice_service";

const CONNECT_TIMEOUT_MS = 5_000;
const QUERY_TIMEOUT_MS = 30_000;

export function postgresUrl(
  role: string,
  password: string,
  port: number,
  database: string,
): string {
  return `postgres://${role}:${encodeURIComponent(password)}@127.0.0.1:${port}/${database}`;
}

/** Runs `work` on a connection of its own. */
export async function withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
  });
  client.on("error", () => undefined);
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Whether the server takes connections; a wrong password counts as no. */
export async function answers(url: string): Promise<boolean> {
  try {
    await withClient(url, (client) => client.query("select 1"));
    return true;
  } catch {
    return false;
  }
}

/**
 * `voice_owner` migrates and owns, `voice_service` serves and gets only what migrations grant it.
 * Can be run again: passwords are set to the given ones.
 */
export async function ensureRoles(
  adminUrl: string,
  passwords: { owner: string; service: string },
): Promise<void> {
  await withClient(adminUrl, async (client) => {
    await ensureRole(client, OWNER_ROLE, passwords.owner);
    await ensureRole(client, SERVICE_ROLE, passwords.service);
  });
}

/** An empty database that belongs to `voice_owner`; `template` is copied when given. */
export async function createDatabase(
  adminUrl: string,
  name: string,
  template = "template0",
  strategy: "wal_log" | "file_copy" = "wal_log",
): Promise<void> {
  await withClient(adminUrl, async (client) => {
    const quoted = client.escapeIdentifier(name);
    await client.query(
      `create database ${quoted} owner ${OWNER_ROLE} template ${client.escapeIdentifier(template)} strategy ${strategy}`,
    );
    await client.query(`revoke all on database ${quoted} from public`);
    await client.query(`grant connect, temporary on database ${quoted} to ${SERVICE_ROLE}`);
  });
}

/** Gives the owner its schema; the server's own rules keep everyone else from creating in it. */
export async function prepareSchema(adminDatabaseUrl: string): Promise<void> {
  await withClient(adminDatabaseUrl, async (client) => {
    await client.query(`alter schema public owner to ${OWNER_ROLE}`);
    await client.query(`grant usage on schema public to ${SERVICE_ROLE}`);
  });
}

export async function databaseExists(adminUrl: string, name: string): Promise<boolean> {
  return withClient(adminUrl, async (client) => {
    const result = await client.query("select 1 from pg_database where datname = $1", [name]);
    return result.rowCount === 1;
  });
}

async function ensureRole(client: Client, role: string, password: string): Promise<void> {
  const known = await client.query("select 1 from pg_roles where rolname = $1", [role]);
  const verb = known.rowCount === 1 ? "alter" : "create";
  const secret = client.escapeLiteral(password);
  await client.query(
    `${verb} role ${role} login nosuperuser nocreatedb nocreaterole password ${secret}`,
  );
}
