import { execFileSync } from "node:child_process";
import { appendFileSync, chownSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findFreePort } from "../../deploy/supervisor/ports.ts";
import type { Cluster } from "../../deploy/supervisor/postgres/cluster.ts";
import { postgresPart } from "../../deploy/supervisor/postgres/postgres-part.ts";
import { withClient } from "../../deploy/supervisor/postgres/roles.ts";
import { makeScratchFolder } from "./scratch-folder.ts";
import { TestServer } from "./test-server.ts";
import { until } from "./until.ts";

/** A server that a standby can be made of. */
export interface Primary {
  readonly cluster: Cluster;
  /** As its superuser. */
  readonly adminUrl: string;
  halt(): Promise<void>;
  resume(): Promise<void>;
}

/**
 * A second server from a cold copy of another one's data folder. It follows by streaming
 * replication, and the other acknowledges no commit that it has not got: whoever promotes it
 * finds everything that was acknowledged.
 */
export class Standby implements Primary {
  readonly cluster: Cluster;
  readonly adminUrl: string;
  readonly #folder: string;
  readonly #server: TestServer;

  private constructor(folder: string, cluster: Cluster, adminUrl: string, port: number) {
    this.#folder = folder;
    this.cluster = cluster;
    this.adminUrl = adminUrl;
    const logFile = join(folder, "postgres.log");
    const { env } = process;
    const part = postgresPart({ cluster, port, adminUrl, logFile, env, durable: true });
    this.#server = new TestServer(part, folder);
  }

  /** Halts `primary` for the copy, and resolves when both run and the one waits for the other. */
  static async of(primary: Primary): Promise<Standby> {
    const folder = makeScratchFolder("standby");
    const port = await findFreePort();
    const cluster = { ...primary.cluster, folder: join(folder, "data") };
    await primary.halt();
    execFileSync("cp", ["-a", primary.cluster.folder, cluster.folder]);
    follow(cluster, primary.adminUrl);
    await primary.resume();
    const standby = new Standby(folder, cluster, withPort(primary.adminUrl, port), port);
    await standby.#server.start();
    await setServer(primary.adminUrl, "synchronous_standby_names", "*");
    await until(() => isSynchronous(primary.adminUrl), "the standby to follow", 15_000);
    return standby;
  }

  /** The same role and database on this server. */
  address(url: string): string {
    return withPort(url, Number(new URL(this.adminUrl).port));
  }

  /** From its return on it takes changes. */
  async promote(): Promise<void> {
    await withClient(this.adminUrl, (client) => client.query("select pg_promote(true, 30)"));
    // What it took over from its primary.
    await setServer(this.adminUrl, "synchronous_standby_names", "");
    await setServer(this.adminUrl, "default_transaction_read_only", "off");
  }

  halt(): Promise<void> {
    return this.#server.stop();
  }

  resume(): Promise<void> {
    return this.#server.start();
  }

  /** SIGKILL; `resume` brings it back. */
  kill9(): Promise<void> {
    return this.#server.kill9();
  }

  async stop(): Promise<void> {
    await this.#server.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/**
 * From now on the server answers 25006 to every change, on connections that are there too, and
 * goes on answering what only reads. Resolves when no transaction is left that may still change.
 */
export async function fence({ adminUrl }: Pick<Primary, "adminUrl">): Promise<void> {
  await setServer(adminUrl, "default_transaction_read_only", "on");
  const isQuiet = () =>
    withClient(adminUrl, async (client) => {
      const { rows } = await client.query<{ writers: number }>(
        "select count(*)::int as writers from pg_stat_activity where backend_xid is not null",
      );
      return rows[0]?.writers === 0;
    });
  await until(isQuiet, "the last transactions", 15_000);
}

function follow({ folder, user }: Cluster, primaryUrl: string): void {
  const { port, username, password } = new URL(primaryUrl);
  const address = `host=127.0.0.1 port=${port} user=${username} password=${password}`;
  appendFileSync(join(folder, "postgresql.auto.conf"), `primary_conninfo = '${address}'\n`);
  const signal = join(folder, "standby.signal");
  writeFileSync(signal, "");
  if (user) chownSync(signal, user.uid, user.gid);
}

function withPort(url: string, port: number): string {
  const other = new URL(url);
  other.port = String(port);
  return other.href;
}

async function setServer(adminUrl: string, name: string, value: string): Promise<void> {
  await withClient(adminUrl, async (client) => {
    await client.query("set default_transaction_read_only = off");
    await client.query(`alter system set ${name} = ${client.escapeLiteral(value)}`);
    await client.query("select pg_reload_conf()");
  });
}

function isSynchronous(adminUrl: string): Promise<boolean> {
  return withClient(adminUrl, async (client) => {
    const { rowCount } = await client.query(
      "select from pg_stat_replication where sync_state = 'sync'",
    );
    return rowCount === 1;
  });
}
